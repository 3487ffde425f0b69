"""The tables of projects, jobs and people, with their owners. They hold no charge."""

from __future__ import annotations

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.store.connection import Connection, Row

TABLES = """
CREATE TABLE projects (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    draft TEXT NOT NULL,
    revision INTEGER NOT NULL,
    created TEXT NOT NULL,
    updated TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX projects_of_owner ON projects (owner, updated);

CREATE TABLE shares (
    project TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    person TEXT NOT NULL,
    PRIMARY KEY (project, person)
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

CREATE TABLE tokens (
    hash TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    created TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE looks (
    project TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    look TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (project, look)
) WITHOUT ROWID;
CREATE TRIGGER looks_are_never_changed BEFORE UPDATE ON looks
BEGIN SELECT RAISE(ABORT, 'what was seen stays seen'); END;
CREATE TRIGGER looks_are_never_taken_back BEFORE DELETE ON looks WHEN EXISTS (SELECT 1 FROM projects WHERE id = OLD.project)
BEGIN SELECT RAISE(ABORT, 'what was seen stays seen'); END;

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
CREATE INDEX jobs_of_project ON jobs (owner, project, created);
CREATE INDEX jobs_by_state ON jobs (state, created);

CREATE TABLE needs (
    job TEXT PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    memory_mb REAL NOT NULL
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
CREATE INDEX points_by_state ON points (job, state);

CREATE TABLE workers (
    id TEXT PRIMARY KEY,
    job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    pid INTEGER,
    birth TEXT,
    place TEXT,
    started TEXT NOT NULL,
    heartbeat TEXT
) WITHOUT ROWID;

CREATE TABLE events (
    job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    at TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (job, number)
) WITHOUT ROWID;

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
"""
"""SQL that creates the tables, with their constraints."""


REACHED = "(SELECT id FROM projects WHERE owner = ? UNION ALL SELECT project FROM shares WHERE person = ?)"
"""SQL for the projects that a person has or shares; the person is given twice."""


def owned(db: Connection, kind: str, owner: str, key: str) -> Row:
    """Return the row of a project that the person owns or shares, or of a run or another job in such a project.

    Args:
        db: Connection.
        kind: "project", "run", or the kind of the job as an extension names it.
        owner: Id of the person.
        key: Id of the project, run or job.

    Raises:
        InputError: It does not exist or belongs to others; both give the same message.
    """
    project = "id" if kind == "project" else "project"
    of_kind = f"{kind}s" if kind in ("project", "run") else "jobs"
    row = db.execute(f"SELECT * FROM {of_kind} WHERE id = ? AND {project} IN {REACHED}", (key, owner, owner)).fetchone()
    if row is None or (of_kind == "jobs" and row["kind"] != kind):
        raise InputError(kind, "it does not exist", f"choose one of your {kind}s")
    return row
