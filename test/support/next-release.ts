import { sql } from 'kysely';
import { migrations } from '../../src/store/migrations.ts';

/** What the migrations of a release may do while processes of the release before run: each statement adds something. */
const STATEMENTS = [
  `create table next_release_notes (workspace text not null, turn uuid not null, primary key (workspace, turn))`,
  `alter table turns add column note text not null default 'none'`,
  `create index turns_note on turns (workspace, note)`,
  `create function note_turn() returns trigger language plpgsql as $$
    begin insert into next_release_notes values (new.workspace, new.id); return new; end $$`,
  `create trigger turns_noted after insert on turns for each row execute function note_turn()`,
];

migrations['0002-next-release'] = {
  up: async (db) => {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};

// The program of this release, with one migration more.
await import('../../sandbox/scaled-bot.ts');
