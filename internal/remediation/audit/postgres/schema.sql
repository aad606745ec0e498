-- The audit records of Statecraft. An administrator of the database applies this, as often as he likes:
--
--   kubectl statecraft audit schema | psql "$ADMINISTRATOR"
--
-- The manager needs a role that may append, and a person who verifies one that may read:
--
--   CREATE ROLE statecraft_manager LOGIN PASSWORD '…' IN ROLE statecraft_audit_writer;
--   CREATE ROLE auditor LOGIN PASSWORD '…' IN ROLE statecraft_audit_reader;
BEGIN;

-- Two that apply it at once would both find that something is missing.
SELECT pg_advisory_xact_lock(hashtextextended('statecraft.audit.schema', 0));

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'statecraft_audit_writer') THEN
    CREATE ROLE statecraft_audit_writer NOLOGIN;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'statecraft_audit_reader') THEN
    CREATE ROLE statecraft_audit_reader NOLOGIN;
  END IF;
END
$$;

CREATE SCHEMA IF NOT EXISTS statecraft;

CREATE TABLE IF NOT EXISTS statecraft.audit_record (
  chain       text        NOT NULL CHECK (chain <> ''),
  seq         bigint      NOT NULL CHECK (seq > 0),
  key         text        NOT NULL,
  key_id      text        NOT NULL,
  body        text        NOT NULL,
  prev        text        NOT NULL CHECK (prev ~ '^[0-9a-f]{64}$'),
  hash        text        NOT NULL CHECK (hash ~ '^[0-9a-f]{64}$'),
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (chain, seq),
  UNIQUE (chain, key)
);

-- The hashes show what an administrator of the database changed; this keeps others from it, and him from a mistake.
CREATE OR REPLACE FUNCTION statecraft.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'audit records can only be appended' USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE ON statecraft.audit_record
  FOR EACH ROW EXECUTE FUNCTION statecraft.refuse_change();
CREATE OR REPLACE TRIGGER never_truncated BEFORE TRUNCATE ON statecraft.audit_record
  FOR EACH STATEMENT EXECUTE FUNCTION statecraft.refuse_change();

REVOKE ALL ON SCHEMA statecraft FROM PUBLIC;
REVOKE ALL ON statecraft.audit_record FROM PUBLIC;
GRANT USAGE ON SCHEMA statecraft TO statecraft_audit_writer, statecraft_audit_reader;
GRANT SELECT ON statecraft.audit_record TO statecraft_audit_reader;
-- When a record was made is for the database to say: a writer names every other column, and not that one.
GRANT SELECT, INSERT (chain, seq, key, key_id, body, prev, hash) ON statecraft.audit_record TO statecraft_audit_writer;

COMMIT;
