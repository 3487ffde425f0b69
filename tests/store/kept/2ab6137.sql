BEGIN TRANSACTION;
CREATE TABLE events (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    at TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (run, number)
) WITHOUT ROWID;
CREATE TABLE ledger (
    owner TEXT NOT NULL,
    number INTEGER NOT NULL,
    at TEXT NOT NULL,
    population TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('population', 'cap', 'reserve', 'touch', 'return')),
    run TEXT NOT NULL DEFAULT '',
    spec TEXT NOT NULL DEFAULT '',
    relation TEXT NOT NULL DEFAULT '',
    rho REAL NOT NULL DEFAULT 0.0,
    epsilon REAL NOT NULL DEFAULT 0.0,
    delta REAL NOT NULL DEFAULT 0.0,
    fingerprint TEXT NOT NULL DEFAULT '',
    note TEXT NOT NULL DEFAULT '',
    previous TEXT NOT NULL,
    hash TEXT NOT NULL, own_delta REAL NOT NULL DEFAULT 0.0, accountant TEXT NOT NULL DEFAULT 'zCDP',
    PRIMARY KEY (owner, number)
) WITHOUT ROWID;
INSERT INTO "ledger" VALUES('local',1,'2026-11-29T21:25:28.619+00:00','people','population','','','',0.0,3.0,1.0e-09,'','','0000000000000000000000000000000000000000000000000000000000000000','c581e67c338323124fab21d425ab2f404629a4247dc2ddf891028b77fcaf2ca8',0.0,'zCDP');
INSERT INTO "ledger" VALUES('local',2,'2026-11-29T21:25:28.846+00:00','people','reserve','r1','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','add-remove',0.01,1.0,1.0e-09,'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff','','c581e67c338323124fab21d425ab2f404629a4247dc2ddf891028b77fcaf2ca8','853fac4f203463d400ec43c20ee7cf02888ae86335c1cf4c9828f39123f811be',0.0,'zCDP');
INSERT INTO "ledger" VALUES('local',3,'2026-11-29T21:25:28.933+00:00','people','reserve','r2','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','add-remove',0.01,1.0,1.0e-09,'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff','','853fac4f203463d400ec43c20ee7cf02888ae86335c1cf4c9828f39123f811be','7ae1fec2418f43e87195d41103c1afef53b3ca09595dc27e540af25ece282018',0.0,'zCDP');
INSERT INTO "ledger" VALUES('local',4,'2026-11-29T21:25:29.180+00:00','people','touch','r1','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','add-remove',0.0,1.0,1.0e-09,'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff','','7ae1fec2418f43e87195d41103c1afef53b3ca09595dc27e540af25ece282018','a8a2dca2b5213d1554ac08afdd51a06b8b1d50d1fc7a4e8bd4f7c80158484100',0.0,'zCDP');
INSERT INTO "ledger" VALUES('local',5,'2026-11-29T21:25:29.335+00:00','people','return','r2','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','add-remove',-0.01,1.0,1.0e-09,'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff','cancelled','a8a2dca2b5213d1554ac08afdd51a06b8b1d50d1fc7a4e8bd4f7c80158484100','c9934d75c6d5efc5b3d54b4525fc99d2a5aa6ffaf72ac9d29c050dd9d21efa27',0.0,'zCDP');
INSERT INTO "ledger" VALUES('local',6,'2026-11-29T21:25:29.367+00:00','people','cap','','','',0.0,4.0,1.0e-09,'','the board allowed more','c9934d75c6d5efc5b3d54b4525fc99d2a5aa6ffaf72ac9d29c050dd9d21efa27','d3d99eebfa28eb39cfc47707da14271864152409bc5cb6408b01126f20179310',0.0,'zCDP');
CREATE TABLE projects (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    draft TEXT NOT NULL,
    revision INTEGER NOT NULL,
    created TEXT NOT NULL,
    updated TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    project TEXT NOT NULL REFERENCES projects (id),
    spec TEXT NOT NULL,
    digest TEXT NOT NULL,
    population TEXT NOT NULL,
    rho REAL NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'cancelling', 'done', 'failed', 'cancelled', 'lost')),
    touched INTEGER NOT NULL DEFAULT 0,
    pid INTEGER,
    birth TEXT,
    place TEXT,
    created TEXT NOT NULL,
    started TEXT,
    heartbeat TEXT,
    cancel_asked TEXT,
    finished TEXT,
    error TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE TABLE sweep_points (
    sweep TEXT NOT NULL REFERENCES sweeps (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    forecast REAL NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed', 'lost')),
    worker TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    started TEXT,
    finished TEXT,
    outcome TEXT NOT NULL DEFAULT '',
    error TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (sweep, number)
) WITHOUT ROWID;
CREATE TABLE sweep_workers (
    id TEXT PRIMARY KEY,
    sweep TEXT NOT NULL REFERENCES sweeps (id) ON DELETE CASCADE,
    pid INTEGER,
    birth TEXT,
    place TEXT,
    started TEXT NOT NULL,
    heartbeat TEXT
) WITHOUT ROWID;
CREATE TABLE sweeps (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    project TEXT NOT NULL REFERENCES projects (id),
    document TEXT NOT NULL,
    digest TEXT NOT NULL,
    private INTEGER NOT NULL,
    rho REAL NOT NULL,
    touched INTEGER NOT NULL DEFAULT 0,
    workers INTEGER NOT NULL CHECK (workers > 0),
    state TEXT NOT NULL CHECK (state IN ('active', 'stopped', 'done')),
    created TEXT NOT NULL,
    finished TEXT
) WITHOUT ROWID;
CREATE INDEX projects_of_owner ON projects (owner, updated);
CREATE INDEX runs_of_project ON runs (owner, project, created);
CREATE INDEX runs_by_state ON runs (state, created);
CREATE INDEX ledger_of_population ON ledger (owner, population);
CREATE INDEX ledger_of_run ON ledger (run);
CREATE TRIGGER ledger_is_never_changed BEFORE UPDATE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_is_never_shortened BEFORE DELETE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_is_a_chain BEFORE INSERT ON ledger
WHEN NEW.number != COALESCE((SELECT MAX(number) FROM ledger WHERE owner = NEW.owner), 0) + 1
  OR NEW.previous != COALESCE((SELECT hash FROM ledger WHERE owner = NEW.owner ORDER BY number DESC LIMIT 1), '0000000000000000000000000000000000000000000000000000000000000000')
BEGIN SELECT RAISE(ABORT, 'a ledger entry must follow the last one'); END;
CREATE TRIGGER ledger_has_one_entry_of_a_kind_per_run BEFORE INSERT ON ledger
WHEN NEW.run != '' AND EXISTS (SELECT 1 FROM ledger WHERE run = NEW.run AND kind = NEW.kind)
BEGIN SELECT RAISE(ABORT, 'this run already has such a ledger entry'); END;
CREATE TRIGGER ledger_reserves_something BEFORE INSERT ON ledger
WHEN NEW.kind = 'reserve' AND (NEW.run = '' OR NOT NEW.rho > 0)
BEGIN SELECT RAISE(ABORT, 'a reservation needs a run and a positive rho'); END;
CREATE TRIGGER ledger_touches_after_reserving BEFORE INSERT ON ledger
WHEN NEW.kind = 'touch' AND (NEW.rho != 0
  OR NOT EXISTS (SELECT 1 FROM ledger WHERE owner = NEW.owner AND population = NEW.population AND run = NEW.run AND kind = 'reserve')
  OR EXISTS (SELECT 1 FROM ledger WHERE run = NEW.run AND kind = 'return'))
BEGIN SELECT RAISE(ABORT, 'only a run with a standing reservation may touch data'); END;
CREATE TRIGGER ledger_returns_only_what_was_not_touched BEFORE INSERT ON ledger
WHEN NEW.kind = 'return' AND (
  NOT EXISTS (SELECT 1 FROM ledger WHERE owner = NEW.owner AND population = NEW.population AND run = NEW.run
              AND kind = 'reserve' AND relation = NEW.relation AND rho = -NEW.rho)
  OR EXISTS (SELECT 1 FROM ledger WHERE run = NEW.run AND kind = 'touch'))
BEGIN SELECT RAISE(ABORT, 'a run that touched data stays charged'); END;
CREATE INDEX sweeps_of_project ON sweeps (owner, project, created);
CREATE INDEX sweep_points_by_state ON sweep_points (sweep, state);
CREATE TRIGGER sweep_points_stay_finished BEFORE UPDATE ON sweep_points WHEN OLD.state = 'done'
BEGIN SELECT RAISE(ABORT, 'a finished point is never done again'); END;
COMMIT;
PRAGMA user_version = 4;
