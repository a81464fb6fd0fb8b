import { randomUUID } from 'node:crypto';
import { timeLimit } from '../../calls/retries-and-waits.ts';
import { isClosing, openPlaces, recordRefusal } from '../../relay/access/access-policy.ts';
import { controlRefusal, useOnTurn } from '../../relay/access/control-permission.ts';
import { refusalTold } from '../../relay/access/refusals.ts';
import { readIfAllowed, useDenial } from '../../relay/access/rights.ts';
import { lookUpNames } from '../../relay/reading/display-names.ts';
import { parseMessage, sharedNamesOf, withoutShared } from '../../relay/reading/message-parser.ts';
import { readableText } from '../../relay/reading/message-to-markdown.ts';
import { flagsOf, parseFlags } from '../../relay/reading/typed-choices.ts';
import {
  type ButtonHandlers,
  type ButtonPress,
  type ChannelActor,
  type TurnPress,
  turnOf,
  type WorkspaceActor,
} from '../../relay/runtime/control-request.ts';
import type { RelayDeps, WorkspaceClient } from '../../relay/runtime/deps.ts';
import { isDirectChannel } from '../../relay/runtime/incoming-message.ts';
import { createModal, MAX_INPUT_CHARACTERS, type Modal } from '../../render/blocks/modal.ts';
import { mrkdwnContextBlock, sectionBlock } from '../../render/blocks/slack-blocks.ts';
import * as strings from '../../render/strings/index.ts';
import { keptParts } from '../../slack/slack-message.ts';
import type { MessageContent, TaskChoices } from '../../store/schema.ts';
import type { TaskStartDraft } from '../../store/tasks/task-starts.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';
import { WHOLE_WORKSPACE } from '../../store/workspaces/settings-store.ts';
import { type ModalContent, type ModalOutcome, type ModalTrigger, openAndFillModal } from '../modals.ts';
import { readQuestion } from './asked-again.ts';
import { offeredPrompts, promptsToTry, promptValue } from './offered-prompts.ts';
import { type StartFormContent, startFormView } from './start-form-view.ts';

const MAX_USED_SKILLS = 20;

export type StartFormRequest = WorkspaceActor & ModalTrigger;

export type StartForm = ReturnType<typeof startForm>;

/**
 * The form that starts a task, or asks again with other choices. It opens at once, and is filled later if something must
 * be looked up.
 */
export function startForm(deps: RelayDeps) {
  const buttons: ButtonHandlers<'ask_again' | 'choose_again' | 'new_thread' | 'ask_agent'> = {
    ask_agent: openFromButton,
    ask_again: (press) => askAgain(press),
    choose_again: (press) => chooseAgain(press, 'choose_again'),
    new_thread: (press) => chooseAgain(press, 'new_thread'),
  };

  /** Opens the form blank, or with the prompt that a button names. Throws a SlackError. */
  async function openFromButton(press: ButtonPress): Promise<ModalOutcome> {
    const { workspace, channel, value } = press;
    const known = await promptsToTry(deps, { workspace, channel: WHOLE_WORKSPACE });
    const named = known.find(({ title }) => promptValue(title) === value);
    if (named === undefined) return openNew(press, channel, '');
    const { text, choices } = parseFlags(named.prompt, deps.settings.supportedTaskOptions);
    return openNew(press, channel, text, choices);
  }

  /**
   * Opens the form with a question so far, or '', and choices. A person's own direct conversation is fixed: the form's list
   * cannot offer it. Throws a SlackError.
   */
  async function openNew(
    request: StartFormRequest,
    channel: string | undefined,
    question: string,
    chosen?: TaskChoices,
  ): Promise<ModalOutcome> {
    return openFilled(request, channel, async (workspace) => {
      const isDirect = channel !== undefined && isDirectChannel(channel);
      const isFixed = isDirect && !(await isForeign(workspace, channel, request.person));
      const metadata = { id: randomUUID(), channel: isFixed ? channel : undefined, from: channel };
      const asked = isFixed ? {} : { channel: { chosen: isDirect ? undefined : channel } };
      return renderView(workspace, request.person, {
        metadata,
        ...asked,
        ...(chosen && { chosen }),
        note: question.length > MAX_INPUT_CHARACTERS ? strings.startForm.endMissing : undefined,
        question: { text: question, optional: false },
      });
    });
  }

  /** Opens the form for a question about a message, as Slack sent it; `ts` is the time of the press. Throws a SlackError. */
  async function openAboutMessage(
    request: StartFormRequest,
    about: { channel: string; thread_ts: string; ts: string; message: Record<string, unknown> },
  ): Promise<ModalOutcome> {
    return openFilled(request, about.channel, async (workspace) => {
      const { channel, thread_ts, ts, message } = about;
      const key = { workspace: workspace.id, channel, thread_ts };
      const thread = await deps.store.threads.get(key);
      const isTaken = thread !== undefined && thread.task_id !== null;
      const read = parseMessage(message);
      const kept = { ...read, attachments: [], ...keptParts(read) };
      const source: MessageContent = { text: '', about: kept, files: read.files };
      const id = randomUUID();
      const isElsewhere = await isForeign(workspace, channel, request.person);
      const { threadTaken, inThread } = strings.startForm;
      const root = isTaken || isElsewhere ? null : thread_ts;
      const draft = { workspace: workspace.id, id, user_id: request.person, source_content: source };
      const location = { channel, thread_ts: root, message_ts: ts, source_turn_id: null };
      await deps.store.taskStarts.saveDraft({ ...draft, ...location });
      const metadata = { id, channel: isElsewhere ? undefined : channel, drafted: true };
      return renderView(workspace, request.person, {
        metadata,
        ...(isElsewhere && { channel: { chosen: undefined } }),
        note: isTaken ? threadTaken : isElsewhere ? undefined : inThread,
        quote: await readableMessage({ workspace, channel }, message),
        question: { text: '', optional: true },
        files: sharedNamesOf(read),
      });
    });
  }

  /** Opens the form with a turn's question again, for its own thread or for a new one. Throws a SlackError. */
  async function chooseAgain(
    press: TurnPress,
    control: 'choose_again' | 'new_thread',
  ): Promise<ModalOutcome> {
    const { store } = deps;
    // The control below asks for more than access.
    return openFilled(press, undefined, async (workspace) => {
      const turn = await turnOf(store, press);
      if (turn === undefined) return strings.startForm.gone;
      const inThread = control === 'choose_again';
      if (inThread && turn.button_message_ts !== null) return strings.startForm.alreadyAskedAgain;
      const { channel, thread_ts } = turn;
      const refusal = await controlRefusal(deps, useOnTurn(turn, press.person, control));
      if (refusal !== undefined) return refusal;
      const source = (await store.messages.get(messageKeyOf(turn)))?.content;
      if (source == null) return strings.startForm.gone;
      const place = inThread
        ? { thread_ts, source_turn_id: turn.id }
        : { thread_ts: null, source_turn_id: null };
      const { task_id } = await store.threads.getOrThrow(turn);
      const written = { user_id: press.person, source_content: source, message_ts: press.ts };
      const isTaskStarted = inThread && task_id !== null;
      return renderDraft(workspace, { ...place, ...written, channel }, { isTaskStarted });
    });
  }

  /**
   * Opens the form with the question of a finished answer, as Slack has it now, for a new thread. Everybody who may ask in
   * the channel may do so. Throws a SlackError.
   */
  async function askAgain(press: TurnPress): Promise<ModalOutcome> {
    const { channel } = press;
    return openFilled(press, undefined, async (workspace) => {
      const turn = await turnOf(deps.store, press);
      if (turn === undefined) return strings.startForm.gone;
      const asker = { workspace: workspace.id, channel, person: press.person };
      const refusal = async () => {
        const why = await useDenial(deps, asker, 'acting', timeLimit(deps.settings.windowLookupMs));
        return why && refused(asker, why);
      };
      const question = await readIfAllowed(refusal, () => readQuestion(deps, workspace, turn));
      if (question === undefined) return strings.startForm.questionGone;
      if (typeof question === 'string' || !('turn' in question)) return question;
      const place = { channel, thread_ts: null, source_turn_id: question.turn.id, message_ts: press.ts };
      const draft = { ...place, user_id: press.person, source_content: question.content };
      const shown = { isTaskStarted: false, note: strings.startForm.asksAgain };
      return renderDraft(workspace, draft, shown);
    });
  }

  /** Saves a draft that asks a question again, and renders its form. */
  async function renderDraft(
    workspace: WorkspaceClient,
    draft: Omit<TaskStartDraft, 'workspace' | 'id' | 'source_content'> & { source_content: MessageContent },
    shown: { isTaskStarted: boolean; note?: string },
  ): Promise<Modal> {
    const { supportedTaskOptions } = deps.settings;
    const { channel, source_content: source } = draft;
    const id = randomUUID();
    await deps.store.taskStarts.saveDraft({ ...draft, workspace: workspace.id, id });
    const asking = parseMessage(source);
    const text = await readableMessage({ workspace, channel }, withoutShared(asking));
    const question = parseFlags(text, supportedTaskOptions).text;
    const quoted =
      source.about === undefined ? undefined : await readableMessage({ workspace, channel }, source.about);
    return renderView(workspace, draft.user_id, {
      metadata: { id, channel, drafted: true },
      question:
        question.length > MAX_INPUT_CHARACTERS
          ? 'long'
          : { text: question, optional: source.about !== undefined || question === '' },
      quote: quoted,
      ...shown,
      chosen: flagsOf(source, workspace.bot.userId, supportedTaskOptions).choices,
      files: sharedNamesOf(asking),
    });
  }

  async function openFilled(
    request: StartFormRequest,
    channel: string | undefined,
    fill: (workspace: WorkspaceClient) => Promise<ModalContent>,
  ): Promise<ModalOutcome> {
    return openAndFillModal(deps, request, strings.startForm.heading, async (workspace) => {
      if (channel === undefined) return fill(workspace);
      const asker = { workspace: workspace.id, channel, person: request.person };
      // Where Slack does not say, the submitted form is refused.
      // A direct conversation may be of two people: the form then asks for another place.
      const place = isDirectChannel(channel) ? 'anywhere' : 'acting';
      const why = await useDenial(deps, asker, place, timeLimit(deps.settings.windowLookupMs));
      if (why === undefined || why === 'unknown') return fill(workspace);
      return refused(asker, why);
    });
  }

  async function refused(
    asker: ChannelActor,
    why: NonNullable<Awaited<ReturnType<typeof useDenial>>>,
  ): Promise<ModalContent> {
    await recordRefusal(deps, asker, { control: 'start', why });
    const sentence = await refusalTold(deps, asker, { why }, 'form');
    const where = isClosing(why) ? await openPlaces(deps, asker.workspace) : '';
    if (where === '') return sentence;
    return createModal(strings.startForm.heading, [sectionBlock(sentence), mrkdwnContextBlock(where)]);
  }

  async function renderView(
    workspace: WorkspaceClient,
    person: string,
    content: Partial<StartFormContent> & Pick<StartFormContent, 'metadata'>,
  ): Promise<Modal> {
    const { settings, store } = deps;
    const channel = content.metadata.channel ?? content.channel?.chosen;
    const isNewTask = channel !== undefined && content.isTaskStarted !== true;
    const skills = await store.turnUsage.recentSkills(workspace.id, MAX_USED_SKILLS);
    const instructions = isNewTask ? await instructionsOf(workspace.id, channel) : undefined;
    // All tell what others do: they are for people of whom Slack says now that they may use the agent there.
    const asker = { workspace: workspace.id, channel: channel ?? WHOLE_WORKSPACE, person };
    const prompts = content.chosen === undefined ? await offeredPrompts(deps, asker) : [];
    const mayRead =
      (skills.length > 0 || prompts.length > 0 || instructions !== undefined) &&
      (await useDenial(deps, asker, 'acting', timeLimit(deps.settings.windowLookupMs))) === undefined;
    return startFormView({
      instructions: mayRead ? instructions : undefined,
      question: { text: '', optional: false },
      isTaskStarted: false,
      chosen: {},
      files: [],
      offers: settings.supportedTaskOptions,
      usedSkills: mayRead ? skills : [],
      prompts: mayRead ? prompts : [],
      ...content,
    });
  }

  async function instructionsOf(workspace: string, channel: string) {
    const { instructions } = await deps.store.settings.get(workspace, channel);
    if (deps.settings.skill !== undefined || !instructions?.text) return undefined;
    return { ...instructions, channel };
  }

  return { buttons, openNew, openAboutMessage };
}

/** Whether a channel is a direct conversation that the person does not have with the bot. Throws a SlackError. */
async function isForeign({ posting }: WorkspaceClient, channel: string, person: string): Promise<boolean> {
  return isDirectChannel(channel) && (await posting.openDm(person)) !== channel;
}

async function readableMessage(
  { workspace, channel }: { workspace: WorkspaceClient; channel: string },
  raw: Record<string, unknown>,
): Promise<string> {
  const message = parseMessage(raw);
  const names = await lookUpNames({ people: workspace.people, channel }, message);
  return readableText(message, names, workspace.bot.userId);
}
