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
    kind TEXT NOT NULL CHECK (kind IN ('population', 'cap', 'reserve', 'touch', 'return', 'restore',
        'demand', 'rules', 'approve plan', 'approve release', 'look', 'download', 'delete', 'token', 'revoke',
        'share', 'retention')),
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
INSERT INTO "ledger" VALUES(1,'2026-11-30T00:21:21.038+00:00','local','people','population','','','',NULL,0,0.0,0.0,'',3.0,1.0e-09,'','','','0000000000000000000000000000000000000000000000000000000000000000','566f7c873d574b35dbd073519927ad3ba15949bdfbf3b1620082782c2b1214b5');
INSERT INTO "ledger" VALUES(2,'2026-11-30T00:21:21.097+00:00','local','people','reserve','r1','digest','add-remove',NULL,1,0.01,0.0,'zCDP',1.0,1.0e-09,'1fbe015b146f8b3d9a3c9e2ebc965895e6fd2499fee774145c6b4f2062211740','','','566f7c873d574b35dbd073519927ad3ba15949bdfbf3b1620082782c2b1214b5','62faf28906e3cd6192997c39b9eb5a37e7ad78ca8b13c8f55ff88f49ab248b65');
INSERT INTO "ledger" VALUES(3,'2026-11-30T00:21:21.192+00:00','local','people','reserve','r2','digest','add-remove',NULL,1,0.01,0.0,'zCDP',1.0,1.0e-09,'dbdfdb379c87cd1d23c0d3e030231ed91e0c6ea283e4f849a0dce8aeaeb0246a','','','62faf28906e3cd6192997c39b9eb5a37e7ad78ca8b13c8f55ff88f49ab248b65','43ceeb29c97d221d08861c519b91fc5b9915566736b9e263f64ed9980739a24b');
INSERT INTO "ledger" VALUES(4,'2026-11-30T00:21:21.298+00:00','local','people','touch','r1','digest','add-remove',NULL,1,0.0,0.0,'zCDP',1.0,1.0e-09,'1fbe015b146f8b3d9a3c9e2ebc965895e6fd2499fee774145c6b4f2062211740','','','43ceeb29c97d221d08861c519b91fc5b9915566736b9e263f64ed9980739a24b','3c45cba4f7f68b7007b7be3cb0e63854dde4e95b78aaa8464114d5c36c214d5e');
INSERT INTO "ledger" VALUES(5,'2026-11-30T00:21:21.384+00:00','local','people','return','r2','digest','add-remove',NULL,1,-0.01,0.0,'zCDP',1.0,1.0e-09,'dbdfdb379c87cd1d23c0d3e030231ed91e0c6ea283e4f849a0dce8aeaeb0246a','it never began','','3c45cba4f7f68b7007b7be3cb0e63854dde4e95b78aaa8464114d5c36c214d5e','a8bdb9324e2e806adcd47a01e939dd882bc748a61c6e892eebcac5bafe3ae414');
INSERT INTO "ledger" VALUES(6,'2026-11-30T00:21:21.453+00:00','local','people','cap','','','',NULL,0,0.0,0.0,'',4.0,1.0e-09,'','the board allowed more','','a8bdb9324e2e806adcd47a01e939dd882bc748a61c6e892eebcac5bafe3ae414','664d26649365f25666e8346309b64c7f17cb5db540ec108260b7d5c17049cc49');
CREATE TABLE looks (
    project TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    look TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (project, look)
) WITHOUT ROWID;
CREATE TABLE needs (
    job TEXT PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    memory_mb REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE offers (
    project TEXT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
    person TEXT NOT NULL,
    giver TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE people (
    owner TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    roles TEXT NOT NULL,
    seen TEXT NOT NULL
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
CREATE TABLE shares (
    project TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    person TEXT NOT NULL,
    PRIMARY KEY (project, person)
) WITHOUT ROWID;
CREATE TABLE tokens (
    hash TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    created TEXT NOT NULL
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
CREATE TRIGGER points_stay_finished BEFORE UPDATE ON points WHEN OLD.state = 'done'
BEGIN SELECT RAISE(ABORT, 'a finished point is never done again'); END;
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
COMMIT;
PRAGMA user_version=6;
