-- The role and the database of an office's server, for psql in the database's container: compose.yaml.
\set password `cat /run/secrets/database_password`
CREATE ROLE studio LOGIN PASSWORD :'password';
CREATE DATABASE studio OWNER studio ENCODING 'UTF8' TEMPLATE template0;
