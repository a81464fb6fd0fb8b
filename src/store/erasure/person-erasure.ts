import { type RawBuilder, sql } from 'kysely';
import { allowAuditChange } from '../audit-trail.ts';
import { JOB_KIND } from '../jobs/jobs.ts';
import { countChanges, Queries, sameThread } from '../queries.ts';
import { hasSent } from '../threads/turn-phase.ts';
import { SIGNED_COLUMNS } from '../workspaces/encryption.ts';

/** Columns that hold nothing but a person's id. */
const PERSON_COLUMNS = [
  ['turns', 'stop_requested_by'],
  ['turns', 'instructions_set_by'],
  ['settings', 'changed_by'],
  ['jobs', 'person'],
  ['accounts', 'set_by'],
  ['project_channels', 'taken_by'],
] as const;

/** Erases what we keep about a person, at once and irreversibly. The service's data stays. */
export class PersonErasure extends Queries {
  /**
   * Erases a person's text, file names and id everywhere. Withdraws their waiting messages. Message ids stay, so that no
   * message is taken for a new one. Returns the number of messages, and undefined if no row named the person.
   */
  async eraseUser(workspace: string, person: string): Promise<number | undefined> {
    return this.db.transaction().execute(async (trx) => {
      await allowAuditChange(trx, 'forget');
      const erase = async (...statements: RawBuilder<unknown>[]) => {
        let rows = 0;
        for (const statement of statements) rows += await countChanges(trx, statement);
        return rows;
      };
      // First: a message that quotes them is not frozen from now on, and one that was frozen before is erased below.
      const signed = SIGNED_COLUMNS.map((name) => sql.ref(name)).map(
        (column) => sql`
          update settings set ${column} = null
          where workspace = ${workspace} and ${column} ->> 'set_by' = ${person}`,
      );
      const quoted = await erase(...signed, ...quoteErasures(workspace, person));
      const messages = await erase(sql`
        update messages set state = case state when 'waiting' then 'withdrawn' else state end, content = null, user_id = ''
        where workspace = ${workspace} and user_id = ${person}`);
      const others = await erase(...rowErasures(workspace, person));
      if (quoted + messages + others === 0) return undefined;
      // Records that are being collected, perhaps with their words, are begun again.
      await sql`
        update jobs set claim_id = null, claimed_until = null, due_at = clock_timestamp(), version = version + 1
        where workspace = ${workspace} and kind = ${JOB_KIND.taskRecord} and claim_id is not null
          and intended_at is null`.execute(trx);
      await sql`insert into audit_events (workspace, kind) values (${workspace}, 'forget')`.execute(trx);
      return messages;
    });
  }
}

/** Erases a person's text and id from the rows of each table but `messages`. */
function rowErasures(workspace: string, person: string): RawBuilder<unknown>[] {
  const here = sql`workspace = ${workspace}`;
  return [
    sql`update pending_edits set content = null, user_id = null where ${here} and user_id = ${person}`,
    // A turn that has read such a message, and sends it next, reads it again.
    ...[sql`messages set version = version + 1,`, sql`pending_edits set`].map(
      (table) => sql`
        update ${table} content = ${contentWithoutQuotes(person)}
        where ${here} and ${quotes('content', person)}`,
    ),
    sql`
      delete from task_starts where ${here} and (user_id = ${person}
        or ${quotes('source_content', person)} or ${quotes('content', person)})`,
    sql`
      update task_starts set content = content #- '{step,person}'
      where ${here} and content -> 'step' ->> 'person' = ${person}`,
    sql`
      update turns set prompt = null, quoted_ids = '{}', file_notes = null, source_checks = null, asked_by = '',
        skill = case when ${hasSent} then skill end,
        attached_file_ids = case when outcome is distinct from 'kept' then attached_file_ids end
      where ${here} and asked_by = ${person}`,
    sql`
      delete from jobs
      where ${here} and kind in (${JOB_KIND.answerFiles}, ${JOB_KIND.taskRecord}) and person = ${person}`,
    ...PERSON_COLUMNS.map(
      ([table, column]) => sql`
        update ${sql.table(table)} set ${sql.ref(column)} = '' where ${here} and ${sql.ref(column)} = ${person}`,
    ),
    ...['feedback', 'one_time_notices'].map(
      (table) => sql`delete from ${sql.table(table)} where ${here} and user_id = ${person}`,
    ),
    sql`
      update threads set
        task_title = case when started_by <> ${person} then task_title end,
        task_model = case when started_by <> ${person} or task_id is not null then task_model end,
        started_by = case when started_by = ${person} then '' else started_by end,
        participant_ids = array_remove(participant_ids, ${person}), informed_ids = array_remove(informed_ids, ${person})
      where ${here} and (started_by = ${person} or ${person} = any(participant_ids || informed_ids))`,
    sql`
      update audit_events set user_id = nullif(user_id, ${person}),
        details = case when details ->> 'stoppedBy' = ${person} then details - 'stoppedBy' else details end
      where ${here} and (user_id = ${person} or details ->> 'stoppedBy' = ${person})`,
  ];
}

const IS_THEIR_FILE = '@.user == $person';
/** Of an attachment: whether it, or what is attached to it, quotes the person. */
const IS_THEIR_QUOTE = `@.author_id == $person || @.attachments[*].author_id == $person
  || @.message_blocks[*].message.attachments[*].author_id == $person`;

/** Whether stored content quotes a person: it is about a message of theirs, or a message or file of theirs is attached. */
function quotes(column: string, person: string): RawBuilder<boolean> {
  const isQuoted = sql.raw(IS_THEIR_QUOTE);
  return sql`jsonb_path_exists(${sql.ref(column)}, '$ ? (@.about.user == $person
    || @.files[*].user == $person || exists (@.attachments[*] ? (@.files[*].user == $person || ${isQuoted}))
    || @.about.files[*].user == $person || exists (@.about.attachments[*] ? (@.files[*].user == $person || ${isQuoted})))', ${only(person)})`;
}

function contentWithoutQuotes(person: string): RawBuilder<unknown> {
  let left: RawBuilder<unknown> = sql`
    case when content -> 'about' ->> 'user' = ${person} then content - 'about' else content end`;
  const othersIn = (of: 'content' | 'one', path: string, isTheirs: string) => sql`
    jsonb_path_query_array(${sql.ref(of)}, '$.${sql.raw(path)}[*] ? (!(${sql.raw(isTheirs)}))', ${only(person)})`;
  for (const about of ['', 'about']) {
    const inside = (list: string) => [about, list].filter((step) => step !== '');
    const files = othersIn('content', inside('files').join('.'), IS_THEIR_FILE);
    // An attachment of others stays, without the person's files.
    const attachments = sql`(
      select coalesce(jsonb_agg(jsonb_set(one, '{files}', ${othersIn('one', 'files', IS_THEIR_FILE)}, false) order by place), '[]')
      from jsonb_array_elements(${othersIn('content', inside('attachments').join('.'), IS_THEIR_QUOTE)})
        with ordinality as listed (one, place))`;
    left = sql`jsonb_set(${left}, '{${sql.raw(inside('files').join(','))}}', ${files}, false)`;
    left = sql`jsonb_set(${left}, '{${sql.raw(inside('attachments').join(','))}}', ${attachments}, false)`;
  }
  return left;
}

const only = (person: string) => sql`jsonb_build_object('person', ${person}::text)`;

/** Erases what others sent that quotes the person: an earlier, linked or forwarded message, or one that they asked about. */
function quoteErasures(workspace: string, person: string): RawBuilder<unknown>[] {
  return [
    eraseRepeats(workspace, person),
    sql`
      update threads set task_title = null from messages
      where messages.workspace = ${workspace} and ${quotes('messages.content', person)} and ${sameThread('messages', 'threads')}
        and messages.ts = threads.adopted_ts`,
    sql`
      update turns set prompt = null, quoted_ids = '{}', file_notes = null
      where workspace = ${workspace} and ${person} = any(quoted_ids)`,
  ];
}

/**
 * Erases a person's text where others sent it again, also as the title of a task, and deletes the forms in which they were
 * about to. The messages that repeat others are found first, once: the cost grows with the messages, not with their square.
 */
function eraseRepeats(workspace: string, person: string): RawBuilder<unknown> {
  return sql`
    with recursive repeats as (
      select turns.channel, turns.message_ts as of_ts, again.thread_ts, again.ts
      from messages as again join turns on turns.workspace = ${workspace} and turns.channel = again.channel
        and turns.thread_ts = again.thread_ts and turns.id in (again.resends_turn_id, again.revises_turn_id)
      where again.workspace = ${workspace} and (again.resends_turn_id is not null or again.revises_turn_id is not null)
      union all
      select turns.channel, turns.message_ts, again.thread_ts, again.ts
      from task_starts as form join turns on turns.workspace = ${workspace} and turns.id = form.source_turn_id
        and turns.thread_ts <> form.thread_ts
      join messages as again on again.workspace = ${workspace} and again.channel = turns.channel and again.ts = form.thread_ts
      where form.workspace = ${workspace}
    ), said as (
      select messages.channel, messages.ts from messages
      where workspace = ${workspace} and user_id = ${person}
      union
      select repeats.channel, repeats.ts from said
      join repeats on repeats.channel = said.channel and repeats.of_ts = said.ts
    ), theirs as (
      select turns.id from turns join said on turns.channel = said.channel and turns.message_ts = said.ts
      where turns.workspace = ${workspace}
    ), forms as (
      delete from task_starts using theirs where task_starts.workspace = ${workspace} and task_starts.source_turn_id = theirs.id
    ), titles as (
      update threads set task_title = null from theirs join turns on turns.workspace = ${workspace} and turns.id = theirs.id
      where ${sameThread('turns', 'threads')} and case when threads.task_id is null then threads.task_intended_at is null
        -- A turn before it may be deleted already, unless this one asks anew what the task did not get.
        else turns.task_id = threads.task_id and (turns.started_at <= threads.task_started_at or exists (
            select from messages as again join turns as unsent on unsent.workspace = ${workspace}
              and unsent.id in (again.resends_turn_id, again.revises_turn_id) and unsent.task_id is null
            where again.workspace = ${workspace} and again.channel = turns.channel
              and again.ts = turns.message_ts)) and not exists (
          select from turns as earlier where ${sameThread('earlier', 'turns')} and earlier.id < turns.id
            and earlier.task_id = turns.task_id) end
    ), questions as (
      update messages set content = null,
        state = case messages.state when 'waiting' then 'withdrawn' else messages.state end
      from said where messages.workspace = ${workspace} and messages.channel = said.channel
        and messages.ts = said.ts and messages.user_id <> ${person}
    )
    update turns set prompt = null, file_notes = null from theirs
    where turns.workspace = ${workspace} and turns.id = theirs.id and turns.asked_by <> ${person}`;
}
