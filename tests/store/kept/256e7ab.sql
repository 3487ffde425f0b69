BEGIN TRANSACTION;
CREATE TABLE events (
    job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    at TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (job, number)
) WITHOUT ROWID;
CREATE TABLE jobs (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    project TEXT REFERENCES projects (id),
    kind TEXT NOT NULL CHECK (kind IN ('release', 'sweep', 'command')),
    document TEXT NOT NULL,
    digest TEXT NOT NULL,
    population TEXT NOT NULL,
    rho REAL NOT NULL,
    charged INTEGER NOT NULL,
    touched INTEGER NOT NULL DEFAULT 0,
    workers INTEGER NOT NULL CHECK (workers > 0),
    state TEXT NOT NULL CHECK (state IN ('active', 'stopping', 'stopped', 'done')),
    stop_asked TEXT,
    created TEXT NOT NULL,
    finished TEXT,
    CHECK ((project IS NULL) = (kind = 'command'))
) WITHOUT ROWID;
CREATE TABLE ledger (
    number INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    curator TEXT NOT NULL,
    population TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('population', 'cap', 'reserve', 'touch', 'return', 'restore')),
    run TEXT NOT NULL,
    spec TEXT NOT NULL,
    relation TEXT NOT NULL,
    person_column TEXT,
    max_rows INTEGER NOT NULL,
    rho REAL NOT NULL,
    own_delta REAL NOT NULL,
    accountant TEXT NOT NULL,
    epsilon REAL NOT NULL,
    delta REAL NOT NULL,
    fingerprint TEXT NOT NULL,
    note TEXT NOT NULL,
    accepted TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
);
INSERT INTO "ledger" VALUES(1,'2026-11-29T21:26:15.530+00:00','local','people','population','','','',NULL,0,0.0,0.0,'',3.0,1.0e-09,'','','','0000000000000000000000000000000000000000000000000000000000000000','01ade6dc12eefd138ba20e047645567a1f8b8f2d9820b719ba983456dc0bd2ae');
INSERT INTO "ledger" VALUES(2,'2026-11-29T21:26:15.662+00:00','local','people','reserve','r1','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','add-remove',NULL,1,0.01,0.0,'zCDP',1.0,1.0e-09,'70f15b97bccbb456e96e642d42a9d3e02f225d727ed61859904e161b4c8156ce','','','01ade6dc12eefd138ba20e047645567a1f8b8f2d9820b719ba983456dc0bd2ae','cd2471421b471b959c4d73d8fad07656cf051141d0116fcd45577883651679e1');
INSERT INTO "ledger" VALUES(3,'2026-11-29T21:26:15.744+00:00','local','people','reserve','r2','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','add-remove',NULL,1,0.01,0.0,'zCDP',1.0,1.0e-09,'9719733e0bf3ed453a3bfeb4b4904dfa20295c59ed421713cd6c02516871fca3','','','cd2471421b471b959c4d73d8fad07656cf051141d0116fcd45577883651679e1','0f949ffaf897516641e3061ade70656ec85c427d8f45cde6c57c204da5e6261d');
INSERT INTO "ledger" VALUES(4,'2026-11-29T21:26:15.831+00:00','local','people','touch','r1','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','add-remove',NULL,1,0.0,0.0,'zCDP',1.0,1.0e-09,'70f15b97bccbb456e96e642d42a9d3e02f225d727ed61859904e161b4c8156ce','','','0f949ffaf897516641e3061ade70656ec85c427d8f45cde6c57c204da5e6261d','d91b2df0af49f78644d2e2947832291b857436007966108ee80cdf7cd84ca3ee');
INSERT INTO "ledger" VALUES(5,'2026-11-29T21:26:15.905+00:00','local','people','return','r2','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','add-remove',NULL,1,-0.01,0.0,'zCDP',1.0,1.0e-09,'9719733e0bf3ed453a3bfeb4b4904dfa20295c59ed421713cd6c02516871fca3','cancelled','','d91b2df0af49f78644d2e2947832291b857436007966108ee80cdf7cd84ca3ee','72cc80f15e6a0e0f8d4afe2c6b8269bee281e60c69a54c7e0927c0d975d8da7a');
INSERT INTO "ledger" VALUES(6,'2026-11-29T21:26:16.000+00:00','local','people','cap','','','',NULL,0,0.0,0.0,'',4.0,1.0e-09,'','the board allowed more','','72cc80f15e6a0e0f8d4afe2c6b8269bee281e60c69a54c7e0927c0d975d8da7a','3eebde82bd2203dd4f70064ade78f8a933b2847f38f30fe7e6ddc455ab15f40d');
CREATE TABLE looks (
    project TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    look TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (project, look)
) WITHOUT ROWID;
CREATE TABLE points (
    job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    forecast REAL NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed', 'cancelled', 'lost')),
    worker TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    started TEXT,
    finished TEXT,
    outcome TEXT NOT NULL DEFAULT '',
    error TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (job, number)
) WITHOUT ROWID;
CREATE TABLE projects (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    draft TEXT NOT NULL,
    revision INTEGER NOT NULL,
    created TEXT NOT NULL,
    updated TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE workers (
    id TEXT PRIMARY KEY,
    job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    pid INTEGER,
    birth TEXT,
    place TEXT,
    started TEXT NOT NULL,
    heartbeat TEXT
) WITHOUT ROWID;
CREATE INDEX projects_of_owner ON projects (owner, updated);
CREATE TRIGGER looks_are_never_changed BEFORE UPDATE ON looks
BEGIN SELECT RAISE(ABORT, 'what was seen stays seen'); END;
CREATE TRIGGER looks_are_never_taken_back BEFORE DELETE ON looks WHEN EXISTS (SELECT 1 FROM projects WHERE id = OLD.project)
BEGIN SELECT RAISE(ABORT, 'what was seen stays seen'); END;
CREATE INDEX jobs_of_project ON jobs (owner, project, created);
CREATE INDEX jobs_by_state ON jobs (state, created);
CREATE INDEX points_by_state ON points (job, state);
CREATE VIEW sweeps AS SELECT * FROM jobs WHERE kind = 'sweep';
CREATE VIEW runs AS SELECT
    jobs.id, owner, project, document AS spec, digest, population, rho, touched, created, points.started, points.finished, points.error,
    (SELECT heartbeat FROM workers WHERE job = jobs.id) AS heartbeat,
    CASE
        WHEN jobs.state = 'stopping' THEN 'cancelling'
        WHEN points.state = 'waiting' THEN iif(EXISTS (SELECT 1 FROM workers WHERE job = jobs.id), 'running', 'queued')
        ELSE points.state
    END AS state
FROM jobs JOIN points ON job = jobs.id WHERE kind = 'release';
CREATE INDEX ledger_of_population ON ledger (population);
CREATE INDEX ledger_of_run ON ledger (run);
CREATE TRIGGER ledger_is_never_changed BEFORE UPDATE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_is_never_shortened BEFORE DELETE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_is_a_chain BEFORE INSERT ON ledger
WHEN NEW.number != COALESCE((SELECT MAX(number) FROM ledger), 0) + 1
  OR NEW.previous != COALESCE((SELECT hash FROM ledger ORDER BY number DESC LIMIT 1), '0000000000000000000000000000000000000000000000000000000000000000')
BEGIN SELECT RAISE(ABORT, 'a ledger entry must follow the last one'); END;
CREATE TRIGGER ledger_has_one_entry_of_a_kind_per_run BEFORE INSERT ON ledger
WHEN NEW.run != '' AND EXISTS (SELECT 1 FROM ledger WHERE run = NEW.run AND kind = NEW.kind)
BEGIN SELECT RAISE(ABORT, 'this run already has such a ledger entry'); END;
CREATE TRIGGER ledger_reserves_something BEFORE INSERT ON ledger
WHEN NEW.kind = 'reserve' AND (NEW.run = '' OR NOT NEW.rho > 0)
BEGIN SELECT RAISE(ABORT, 'a reservation needs a run and a positive rho'); END;
CREATE TRIGGER ledger_touches_after_reserving BEFORE INSERT ON ledger
WHEN NEW.kind = 'touch' AND (NEW.rho != 0
  OR NOT EXISTS (SELECT 1 FROM ledger WHERE population = NEW.population AND run = NEW.run AND kind = 'reserve')
  OR EXISTS (SELECT 1 FROM ledger WHERE run = NEW.run AND kind = 'return'))
BEGIN SELECT RAISE(ABORT, 'only a run with a standing reservation may touch data'); END;
CREATE TRIGGER ledger_returns_only_what_was_not_touched BEFORE INSERT ON ledger
WHEN NEW.kind = 'return' AND (
  NOT EXISTS (SELECT 1 FROM ledger WHERE population = NEW.population AND run = NEW.run
              AND kind = 'reserve' AND rho = -NEW.rho)
  OR EXISTS (SELECT 1 FROM ledger WHERE run = NEW.run AND kind = 'touch'))
BEGIN SELECT RAISE(ABORT, 'a run that touched data stays charged'); END;
CREATE TRIGGER points_stay_finished BEFORE UPDATE ON points WHEN OLD.state = 'done'
BEGIN SELECT RAISE(ABORT, 'a finished point is never done again'); END;
COMMIT;
PRAGMA user_version = 2;
