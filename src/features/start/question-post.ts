import { recordRefusal } from '../../relay/access/access-policy.ts';
import { useDenial } from '../../relay/access/rights.ts';
import { updatePausedNoticeSoon } from '../../relay/controls/paused-messages.ts';
import { showAskedAgain } from '../../relay/controls/used-button-note.ts';
import { lookUpNames } from '../../relay/reading/display-names.ts';
import {
  blocksOf,
  fileNamesOf,
  type ParsedMessage,
  parseMessage,
} from '../../relay/reading/message-parser.ts';
import { readableText } from '../../relay/reading/message-to-markdown.ts';
import { tablesAmong, withoutTables, withTableFiles } from '../../relay/reading/pasted-tables.ts';
import { verbatimBlock } from '../../relay/reading/rich-text-parser.ts';
import { parseFlags } from '../../relay/reading/typed-choices.ts';
import type { RelayDeps, WorkspaceClient } from '../../relay/runtime/deps.ts';
import { isBotId } from '../../relay/runtime/incoming-message.ts';
import type { JobKind, JobOutcome } from '../../relay/runtime/job-runner.ts';
import type { Lease } from '../../relay/runtime/lease.ts';
import { inBackground } from '../../relay/runtime/poller.ts';
import { jobPostIntent, postJobNotice, postOnce } from '../../relay/runtime/unknown-outcome.ts';
import { mayHaveMoved } from '../../relay/runtime/unreachable-threads.ts';
import { textOfCells } from '../../relay/sending/attachments.ts';
import type { ViewBlock } from '../../render/blocks/modal.ts';
import { contextLineBlock, mrkdwnContextBlock } from '../../render/blocks/slack-blocks.ts';
import { MAX_TABLE_COLUMNS, MAX_TABLE_ROWS } from '../../render/markdown/markdown-node.ts';
import { neutralizePings, truncateBytes } from '../../render/markdown/pings.ts';
import { shortenShown, shownSize } from '../../render/markdown/shown-size.ts';
import * as strings from '../../render/strings/index.ts';
import { toOneLine } from '../../render/text-format.ts';
import {
  ChannelGoneError,
  MessageGoneError,
  PayloadRefusedError,
  SlackAuthError,
  SlackRefusedError,
  undefinedIfGone,
} from '../../slack/errors.ts';
import { JOB_KIND } from '../../store/jobs/jobs.ts';
import type { Job, MessageContent, SlackTs, TaskStart } from '../../store/schema.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';
import { firstTurn, linkTo, ownPost, refusedTurn, wantLinkBack } from './asked-again.ts';

/** Whoever asks may not ask there any more; the message is `later` if Slack does not say. */
class AskerRefused extends Error {}

/**
 * Shows each question from a form once in its thread, where its task runs: in a post, or where one of ours asked before. One
 * that cannot be shown goes back to its asker.
 */
export function questionPosts(deps: RelayDeps): JobKind {
  const jobs: JobKind = {
    kind: JOB_KIND.taskStart,
    share: 10,
    giveUpAfterMs: 60 * 60_000,
    perform: async (job, lease) => {
      const start = await startOf(job);
      return start === undefined ? 'done' : postOrReturn(start, job, lease);
    },
    onGivenUp: async (job, lease) => {
      const start = await startOf(job);
      if (start !== undefined) await returnToAsker(start, job, lease, 'given_up');
    },
  };

  /** What is to be posted; undefined if that is done, or was erased. */
  async function startOf({ workspace, key: id }: Job): Promise<TaskStart | undefined> {
    const start = await deps.store.taskStarts.get({ workspace, id });
    return start?.state === 'posting' ? start : undefined;
  }

  /** Posts a question, or gives it back if Slack certainly rejects it. Throws temporary failures. */
  async function postOrReturn(start: TaskStart, job: Job, lease: Lease): Promise<JobOutcome> {
    const workspace = deps.workspace(start.workspace);
    if (workspace === undefined) return 'later';
    const attempt = async (withTables: boolean) => {
      const { channel, thread_ts, message_ts } = start;
      const own = await ownPost(deps.store, start);
      const message = async () => {
        await throwIfRefused(start, lease);
        return renderPost(workspace, start, { withTables, own });
      };
      const edit = (ts: SlackTs) => workspace.posting.editComplete({ channel, ts, render: message });
      const said_ts = own && (await edit(own).then(() => own, undefinedIfGone));
      if (said_ts !== undefined) return { said_ts, ts: message_ts ?? said_ts };
      const place = { channel, threadTs: thread_ts ?? undefined };
      const request = { ...place, key: postKeyOf(start), kind: 'first', message } as const;
      const ts = await postOnce(workspace, request, jobPostIntent(deps, job), lease);
      return { said_ts: ts, ts };
    };
    try {
      const shown = await attempt(true).catch((error) => {
        if (error instanceof PayloadRefusedError) return attempt(false);
        throw error;
      });
      await openThread(start, shown);
    } catch (error) {
      if (error instanceof AskerRefused && error.message === 'later') return 'later';
      const reason = refusalReason(error);
      if (reason === undefined) throw error;
      if (mayHaveMoved(error, job.tried_since)) return 'later';
      deps.log.info({ err: error, start: start.id }, 'a question from a form cannot be posted');
      await returnToAsker(start, job, lease, reason);
    }
    return 'done';
  }

  /** The form may have been sent long ago, and its post have waited for Slack. A step of a workflow is asked about as its turn begins. */
  async function throwIfRefused({ workspace, channel, user_id: person }: TaskStart, lease: Lease) {
    if (isBotId(person)) return;
    const asker = { workspace, channel, person };
    const why = await useDenial(deps, asker, 'reading', lease.signal);
    if (why === undefined) return;
    // A channel that Slack does not show may have another id, of which we are told soon.
    if (why === 'unknown' || why === 'hidden') throw new AskerRefused('later');
    await recordRefusal(deps, asker, { control: 'start', why });
    throw new AskerRefused(why);
  }

  /** The post with a question; `own` is the ts of the one whose place it takes. */
  async function renderPost(
    workspace: WorkspaceClient,
    start: TaskStart,
    { withTables, own }: { withTables: boolean; own: SlackTs | undefined },
  ) {
    const { channel, user_id, content, thread_ts } = start;
    const { choices, about, step, ...said } = content ?? { text: '' };
    const botUser = workspace.bot.userId;
    const question = parseMessage(said);
    // People see the first message of its thread.
    const quoted = about === undefined || about.ts === thread_ts ? [] : [parseMessage(about)];
    const scope = { people: workspace.people, channel };
    const names = await lookUpNames(scope, question, ...quoted);
    const wordsOf = (one: ParsedMessage) => readableText(one, names, botUser, withoutTables(blocksOf(one)));
    const tables = tablesAmong(withTableFiles([question, ...quoted].flatMap(blocksOf), 1));
    const shownTables = tables.filter(
      ({ rows, columns }) => withTables && rows.length <= MAX_TABLE_ROWS && columns <= MAX_TABLE_COLUMNS,
    );
    const asked = parseFlags(wordsOf(question), deps.settings.supportedTaskOptions);
    const first = await firstTurn(deps.store, start, own);
    const firstSaid = first && (await deps.store.messages.get(messageKeyOf(first)))?.said_ts;
    return questionPost({
      firstLink: firstSaid == null ? undefined : await linkTo(workspace, { channel, ts: firstSaid }),
      person: step === undefined ? user_id : step.person,
      label: step && (step.label ?? strings.workflowStep.unnamed),
      question: asked.text,
      quote: quoted.map(wordsOf)[0],
      choices: choices ?? asked.choices,
      files: [...fileNamesOf(question), ...tables.map(({ file = '' }) => file)],
      tables: await Promise.all(shownTables.map((table) => textOfCells(scope, table))),
    });
  }

  /** Makes the question's thread ours, with the question waiting in it. */
  async function openThread(
    start: TaskStart,
    { ts, said_ts }: { ts: SlackTs; said_ts: SlackTs },
  ): Promise<void> {
    const { workspace, channel, user_id } = start;
    if (start.content === null) return;
    const { step: _, ...content } = start.content;
    const thread = { workspace, channel, thread_ts: start.thread_ts ?? ts };
    const refused = await refusedTurn(deps.store, start);
    await deps.store.transaction(async (store) => {
      await store.threads.lock(thread);
      if (!(await store.taskStarts.finish(start, ts))) return;
      await store.threads.adopt(thread, { account_id: deps.accountOf(workspace), user_id, ts });
      if (refused !== undefined)
        await store.turns.claimButton(refused, 'button_message_ts', ts, start.message_ts);
      const again = refused && { revises_turn_id: refused.id };
      const row = { thread_ts: thread.thread_ts, said_ts, user_id, content, edited_ts: null, ...again };
      if (await store.messages.add({ workspace, channel, ts }, { ...row, state: 'waiting' }))
        await deps.enqueue(store, thread);
      const first = await firstTurn(store, start);
      if (first !== undefined) await wantLinkBack(store, first, start, ts);
    });
    deps.log.info({ ...thread, start: start.id }, 'posted a question from a form');
    if (start.thread_ts !== null) updatePausedNoticeSoon(deps, { workspace, channel, ts });
    if (refused !== undefined)
      inBackground(showAskedAgain(deps, refused), deps.log, 'could not take away a used button');
  }

  /** Sends a question back to its asker; keeps the text until that is done or impossible. Throws temporary failures. */
  async function returnToAsker(
    start: TaskStart,
    job: Job,
    lease: Lease,
    reason: keyof typeof strings.questionRefusals,
  ): Promise<void> {
    const { channel, user_id: person, content } = start;
    // A step of a workflow says in Slack what became of it.
    if (content !== null && !isBotId(person)) {
      const text = strings.questionNotPosted(channel, strings.questionRefusals[reason], content.text);
      try {
        await postJobNotice(deps, job, lease, { key: `${postKeyOf(start)}/lost`, text, person });
      } catch (error) {
        if (refusalReason(error) === undefined) throw error;
        deps.log.warn({ err: error, start: start.id }, 'could not return a question to its asker');
      }
    }
    const { thread_ts, message_ts: ts } = start;
    if (thread_ts !== null && ts !== null)
      await deps.store.turns.releaseButton({ workspace: start.workspace, channel, thread_ts, ts });
    await deps.store.taskStarts.finish(start);
  }

  return jobs;
}

function postKeyOf({ id }: TaskStart): string {
  return `start/${id}`;
}

/** Why Slack certainly rejects the post; undefined for a temporary failure. */
function refusalReason(error: unknown): keyof typeof strings.questionRefusals | undefined {
  if (error instanceof AskerRefused) return 'not_allowed';
  if (error instanceof ChannelGoneError)
    return /not_in_channel|channel_not_found/.test(error.slackCode) ? 'invite' : 'unreachable';
  if (error instanceof MessageGoneError) return 'gone';
  if (error instanceof PayloadRefusedError || error instanceof SlackRefusedError) return 'refused';
  return error instanceof SlackAuthError && !error.isInstallationDead ? 'unreachable' : undefined;
}

const MAX_QUESTION_CHARACTERS = 6_000;
const MAX_QUOTE_CHARACTERS = 1_500;
const MAX_LABEL_CHARACTERS = 150;
/** What a table and the quotations before it may take. */
const MAX_TABLE_TEXT = 8_000;

type TextTable = readonly (readonly string[])[];

export interface QuestionPostContent {
  /** Slack's id of who asks; undefined for a step of a workflow that names nobody. */
  person: string | undefined;
  /** Untrusted: what a step of a workflow calls itself. */
  label?: string | undefined;
  /** Untrusted; '' if the person only passes a message on. */
  question: string;
  quote: string | undefined;
  choices: { title?: string; model?: string; skill?: string; noFallback?: boolean; mode?: 'auto' | 'plan' };
  files: readonly string[];
  /** Untrusted: the tables of the question and of the quote that Slack can show, as rows of cells. */
  tables?: readonly TextTable[];
  /** Where the same question was asked first. */
  firstLink?: string | undefined;
}

/** The post whose thread a task starts in: a question from a form or a workflow, verbatim, for everyone to see. */
export function questionPost(content: QuestionPostContent) {
  const { person, label, question, quote = '', choices, files, tables = [], firstLink } = content;
  const asksAbout = quote === '' ? strings.asksAboutRoot : strings.asksAbout;
  const asks = question === '' ? asksAbout : strings.asks;
  const name = shortenShown(neutralizePings(toOneLine(label ?? '')), MAX_LABEL_CHARACTERS);
  const prefix = name === '' || person === undefined ? name : `${name} ${strings.asksFor} `;
  const asker = [
    ...(prefix === '' ? [] : [{ type: 'text', text: prefix } as const]),
    ...(person === undefined ? [] : [{ type: 'user', user_id: person } as const]),
    { type: 'text', text: ` ${asks}` } as const,
  ];
  const quotations = [
    { text: question, most: MAX_QUESTION_CHARACTERS },
    { text: quote, most: MAX_QUOTE_CHARACTERS },
  ]
    .filter(({ text }) => /\S/.test(text))
    .map(({ text, most }) => shortenShown(neutralizePings(text.trim()), most));
  const elements = [{ type: 'rich_text_section' as const, elements: asker }, ...quotations.map(quotation)];
  const blocks: ViewBlock[] = [{ type: 'rich_text', elements }];
  const room = MAX_TABLE_TEXT - shownSize(quotations.join('\n'));
  // Whether Slack takes several is not known.
  const table = tables.find((rows) => shownSize(rows.flat().join(' ')) <= room);
  if (table !== undefined) blocks.push(tableBlock(table));
  const first = firstLink === undefined ? '' : strings.askedFirst(firstLink);
  if (first !== '') blocks.push(mrkdwnContextBlock(first));
  const chosen = strings.chosenOptions(choices, files);
  if (chosen !== '') blocks.push(contextLineBlock(shortenShown(chosen, 900)));
  const who = label === undefined ? `<@${person}> ` : '';
  const said = [`${name} ${asks} ${question}`, quote, chosen].map((line) => line.trim());
  const text = truncateBytes(said.filter((line) => line !== '').join('\n'), 3_500);
  return { text: `${who}${text}\n${first}`.trim(), blocks };
}

/** A text as people quote one. */
export function quotation(text: string) {
  return { type: 'rich_text_quote' as const, elements: [{ type: 'text' as const, text }] };
}

function tableBlock(table: TextTable) {
  // Slack refuses an empty text.
  const cell = (text: string) => ({ type: 'raw_text' as const, text: neutralizePings(text) || ' ' });
  return { type: 'table' as const, rows: table.map((row) => row.map(cell)) };
}

/** Text exactly as typed: escaped, and as a block, so that Slack's markup has no effect. */
export function verbatimContent(text: string): Pick<MessageContent, 'text' | 'blocks'> {
  if (text === '') return { text };
  // https://docs.slack.dev/messaging/formatting-message-text#escaping
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return { text: escaped, blocks: [verbatimBlock(text)] };
}
