import { lookUpNames } from '../../relay/reading/display-names.ts';
import {
  blocksOf,
  fileNamesOf,
  type ParsedMessage,
  parseMessage,
} from '../../relay/reading/message-parser.ts';
import { readableText } from '../../relay/reading/message-to-markdown.ts';
import { tablesAmong, withoutTables, withTableFiles } from '../../relay/reading/pasted-tables.ts';
import type { RelayDeps, WorkspaceClient } from '../../relay/runtime/deps.ts';
import { isBotId } from '../../relay/runtime/incoming-message.ts';
import type { JobKind, JobRunner } from '../../relay/runtime/job-runner.ts';
import type { Lease } from '../../relay/runtime/lease.ts';
import { isOverdue } from '../../relay/runtime/outage-waits.ts';
import { MOVE_TOLD_WITHIN_MS } from '../../relay/runtime/turn-interruptions.ts';
import { jobPostIntent, postJobNotice, postOnce } from '../../relay/runtime/unknown-outcome.ts';
import { textOfCells } from '../../relay/sending/shared-items.ts';
import { MAX_TABLE_COLUMNS, MAX_TABLE_ROWS } from '../../render/markdown/markdown-node.ts';
import * as strings from '../../render/strings/index.ts';
import {
  ChannelGoneError,
  PayloadRefusedError,
  SlackAuthError,
  SlackError,
  SlackRefusedError,
} from '../../slack/errors.ts';
import { JOB_KIND } from '../../store/jobs/jobs.ts';
import type { Job, TaskStart } from '../../store/schema.ts';
import type { TaskStartQuestion } from '../../store/tasks/task-starts.ts';
import { firstTurn, linkTo, wantLinkBack } from './ask-again.ts';
import { questionPost } from './question-post.ts';

export type PostOutcome =
  | 'posted'
  /** The bot is not in the channel. */
  | 'invite'
  /** Nobody can post in the channel. */
  | 'unreachable'
  /** Slack rejects the post itself. */
  | 'refused';

/** Posts each question from a form once; its task runs in the thread. */
export class QuestionPoster {
  readonly #deps: RelayDeps;
  readonly #runner: JobRunner;
  /** A question that cannot be posted goes back to its asker. */
  readonly jobs: JobKind = {
    kind: JOB_KIND.taskStart,
    share: 3,
    timeoutMs: 30_000,
    giveUpAfterMs: 60 * 60_000,
    perform: async (job, lease) => {
      const start = await this.#startOf(job);
      const outcome = start && (await this.#post(start, job, lease));
      // The channel may have another id, of which no event tells yet.
      if (outcome === 'invite' && !isOverdue(job.tried_since ?? new Date(), MOVE_TOLD_WITHIN_MS))
        return 'later';
      if (start !== undefined && outcome !== 'posted') await this.#returnToAsker(start, job, lease);
      return 'done';
    },
    onGivenUp: async (job, lease) => {
      const start = await this.#startOf(job);
      if (start !== undefined) await this.#returnToAsker(start, job, lease);
    },
  };

  constructor(deps: RelayDeps, runner: JobRunner) {
    this.#deps = deps;
    this.#runner = runner;
  }

  /**
   * Posts a question whose form is open. `onOutcome` gets what came of it, 'posted' if the form was sent before, and says
   * whether the form, which shows a refusal, keeps the question; otherwise it goes back to its asker.
   */
  async send(
    question: TaskStartQuestion,
    onOutcome: (outcome: PostOutcome | 'later') => Promise<boolean>,
  ): Promise<void> {
    let job: Job | undefined;
    let outcome: PostOutcome | undefined;
    const record = async (holdMs: number) => {
      job = await this.#deps.store.taskStarts.send(question, holdMs);
      return job;
    };
    await this.#runner.recordAndRun(record, async (claimed, lease) => {
      const start = await this.#startOf(claimed);
      if (start === undefined) return 'done';
      outcome = await this.#post(start, claimed, lease);
      const isKept = await onOutcome(outcome);
      if (isKept) await this.#deps.store.taskStarts.returnToDraft(start);
      else if (outcome !== 'posted') await this.#returnToAsker(start, claimed, lease);
      return 'done';
    });
    if (outcome === undefined) await onOutcome(job === undefined ? 'posted' : 'later');
  }

  /** What is to be posted; undefined if that is done, or was erased. */
  async #startOf({ workspace, key: id }: Job): Promise<TaskStart | undefined> {
    const start = await this.#deps.store.taskStarts.get({ workspace, id });
    return start?.state === 'posting' ? start : undefined;
  }

  /** Posts a question. Unless 'posted', nothing was posted and the text is kept. Throws temporary failures. */
  async #post(start: TaskStart, job: Job, lease: Lease): Promise<PostOutcome> {
    const workspace = this.#deps.workspace(start.workspace);
    if (workspace === undefined) return 'unreachable';
    const { channel } = start;
    const post = (withTables: boolean) => {
      const message = () => this.#renderPost(workspace, start, withTables);
      const request = { channel, key: postKeyOf(start), kind: 'first', message } as const;
      return postOnce(workspace, request, jobPostIntent(this.#deps, job), lease);
    };
    try {
      const ts = await post(true).catch((error) => {
        if (error instanceof PayloadRefusedError) return post(false);
        throw error;
      });
      await this.#openThread(start, ts);
      return 'posted';
    } catch (error) {
      const reason = postRefusalReason(error);
      if (error instanceof SlackError && error.outcome === 'none')
        await this.#deps.store.jobs.forgetIntent(job);
      if (reason === undefined) throw error;
      this.#deps.log.info({ err: error, start: start.id }, 'a question from a form cannot be posted');
      return reason;
    }
  }

  async #renderPost(workspace: WorkspaceClient, start: TaskStart, withTables: boolean) {
    const { channel, user_id, content } = start;
    const { choices, about, step, ...own } = content ?? { text: '' };
    const botUser = workspace.bot.userId;
    const question = parseMessage(own);
    const quoted = about === undefined ? [] : [parseMessage(about)];
    const scope = { people: workspace.people, channel };
    const names = await lookUpNames(scope, question, ...quoted);
    const wordsOf = (one: ParsedMessage) => readableText(one, names, botUser, withoutTables(blocksOf(one)));
    const tables = tablesAmong(withTableFiles([question, ...quoted].flatMap(blocksOf), 1));
    const shownTables = tables.filter(
      ({ rows, columns }) => withTables && rows.length <= MAX_TABLE_ROWS && columns <= MAX_TABLE_COLUMNS,
    );
    const first = await firstTurn(this.#deps.store, start);
    return questionPost({
      firstLink: first && (await linkTo(workspace, { channel, ts: first.message_ts })),
      person: step === undefined ? user_id : step.person,
      label: step && (step.label ?? strings.workflowStep.unnamed),
      question: wordsOf(question),
      quote: quoted.map(wordsOf)[0],
      choices: choices ?? {},
      files: [...fileNamesOf(question), ...tables.map(({ file = '' }) => file)],
      tables: await Promise.all(shownTables.map((table) => textOfCells(scope, table))),
    });
  }

  /** Makes the post's thread ours, with the question waiting in it. */
  async #openThread(start: TaskStart, ts: string): Promise<void> {
    const { workspace, channel, user_id } = start;
    if (start.content === null) return;
    const { step: _, ...content } = start.content;
    const thread = { workspace, channel, thread_ts: ts };
    await this.#deps.store.transaction(async (store, trx) => {
      await store.threads.lock(thread);
      if (!(await store.taskStarts.finish(start, ts))) return;
      await store.threads.adopt(thread, { account_id: this.#deps.accountOf(workspace), user_id, ts });
      const row = { thread_ts: ts, user_id, state: 'waiting', content, edited_ts: null } as const;
      if (await store.messages.add({ workspace, channel, ts }, row)) await this.#deps.enqueue(trx, thread);
      const first = await firstTurn(store, start);
      if (first !== undefined) await wantLinkBack(store, first, start, ts);
    });
    this.#deps.log.info(
      { workspace, channel, thread_ts: ts, start: start.id },
      'posted a question from a form',
    );
  }

  /** Sends a question back to its asker; keeps the text until that is done or impossible. Throws temporary failures. */
  async #returnToAsker(start: TaskStart, job: Job, lease: Lease): Promise<void> {
    const { channel, user_id: person, content } = start;
    // A step of a workflow says in Slack what became of it.
    if (content !== null && !isBotId(person)) {
      const text = strings.questionNotPosted(channel, content.text);
      try {
        await postJobNotice(this.#deps, job, lease, { key: `${postKeyOf(start)}/lost`, text, person });
      } catch (error) {
        if (postRefusalReason(error) === undefined) throw error;
        this.#deps.log.warn({ err: error, start: start.id }, 'could not return a question to its asker');
      }
    }
    await this.#deps.store.taskStarts.finish(start);
  }
}

function postKeyOf({ id }: TaskStart): string {
  return `start/${id}`;
}

/** Why Slack certainly rejects the post; undefined for a temporary failure. */
function postRefusalReason(error: unknown): Exclude<PostOutcome, 'posted'> | undefined {
  if (error instanceof ChannelGoneError)
    return /not_in_channel|channel_not_found/.test(error.slackCode) ? 'invite' : 'unreachable';
  if (error instanceof PayloadRefusedError || error instanceof SlackRefusedError) return 'refused';
  return error instanceof SlackAuthError && !error.isInstallationDead ? 'unreachable' : undefined;
}
