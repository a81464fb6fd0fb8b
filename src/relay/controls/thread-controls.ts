import { AnswerFeedback } from '../../features/feedback/answer-feedback.ts';
import * as strings from '../../render/strings/index.ts';
import type { Turn } from '../../store/schema.ts';
import type { StopOutcome } from '../runtime/control-types.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import { type EphemeralTarget, trySendEphemeral } from '../runtime/ephemeral-messages.ts';
import type { InboxOutcome, IncomingMessage } from '../runtime/incoming-message.ts';
import { ButtonActions } from './button-actions.ts';
import { PausedMessages } from './paused-messages.ts';
import { StopControl } from './stop-control.ts';
import { type StopTrigger, StopTriggers } from './stop-triggers.ts';
import type { WaitingReactions } from './waiting-reactions.ts';

/** Everything with which people take the agent's work into their hands. */
export class ThreadControls {
  readonly buttons: ButtonActions;
  readonly feedback: AnswerFeedback;
  readonly #stopControl: StopControl;
  readonly #stopTriggers: StopTriggers;
  readonly #pausedMessages: PausedMessages;
  readonly #deps: RelayDeps;

  /** `onStop` hears of every turn that is to be stopped. */
  constructor(deps: RelayDeps, waitingReactions: WaitingReactions, onStopRequested: (turn: Turn) => void) {
    this.#deps = deps;
    this.#stopControl = new StopControl(deps, onStopRequested);
    this.feedback = new AnswerFeedback(deps);
    this.#pausedMessages = new PausedMessages(deps, waitingReactions);
    this.buttons = new ButtonActions(deps, this.#stopControl, this.#pausedMessages);
    this.#stopTriggers = new StopTriggers(
      deps,
      this.#stopControl,
      waitingReactions,
      deps.settings.stopReaction,
    );
  }

  /** The word stop as a whole message. */
  readonly onStopWord = (message: IncomingMessage): Promise<StopOutcome> =>
    this.#stopTriggers.onStopWord(message);

  /** Looks for stops that are to be carried out. */
  start(): void {
    this.#stopControl.start();
  }

  async stop(): Promise<void> {
    await this.#stopControl.stop();
  }

  /** What became of a message that came in. */
  onInboxOutcome(
    inboxOutcome: InboxOutcome,
    event: { workspace: string; channel: string; ts: string; person: string },
  ): void {
    this.#pausedMessages.onInboxOutcome(inboxOutcome, event);
    if (inboxOutcome.kind !== 'stop_said' || !inboxOutcome.isFirst) return;
    const { root } = inboxOutcome.thread;
    this.#tellOutcome({ ...event, threadTs: root === event.ts ? undefined : root }, inboxOutcome.outcome);
  }

  /** A message was put into a thread by a form: it may wait there. */
  onMessageAdded(message: { workspace: string; channel: string; ts: string }): void {
    this.#pausedMessages.onWaitingChanged(message);
  }

  /** Carries out a sign that came as an event of its own. */
  async onStopTrigger(trigger: StopTrigger): Promise<StopOutcome> {
    const outcome = await this.#stopTriggers.handle(trigger);
    const threadTs = trigger.kind === 'reaction' ? await this.#threadRootOf(trigger) : trigger.root;
    this.#tellOutcome({ ...trigger, threadTs }, outcome);
    if (trigger.kind === 'reaction' && outcome === 'withdrawn')
      this.#pausedMessages.onWaitingChanged({
        workspace: trigger.workspace,
        channel: trigger.channel,
        ts: trigger.target,
      });
    if (trigger.kind === 'session_stopped' && (outcome === 'nothing' || outcome === 'over')) {
      // Slack leaves its sign to us.
      const { channel, root } = trigger;
      this.#deps
        .workspace(trigger.workspace)
        ?.sessions?.setStatus({ channel, threadTs: root }, 'active')
        .catch((error: unknown) => this.#deps.log.debug({ err: error }, 'a session was left as it is'));
    }
    return outcome;
  }

  async #threadRootOf({
    workspace,
    channel,
    target: ts,
  }: StopTrigger & { kind: 'reaction' }): Promise<string | undefined> {
    const { messages, posts } = this.#deps.store;
    const key = { workspace, channel, ts };
    return (await messages.get(key))?.root ?? (await posts.turnOf(key))?.root;
  }

  /** Tells the person what only they need to know. */
  #tellOutcome(recipient: EphemeralTarget, outcome: StopOutcome): void {
    if (outcome === 'done' || outcome === 'refused' || outcome === 'ignored') return;
    trySendEphemeral(this.#deps, recipient, strings.stopTriggerReplies[outcome]);
  }
}
