import { AgentError } from '../../agent/errors.ts';
import { steps } from '../../reply/progress.ts';
import { loadingView, type ModalView, noStepsView, stepsView } from '../../reply/steps-view.ts';
import * as words from '../../reply/words.ts';
import type { RelayParts } from '../context.ts';
import { isGone } from '../showing/follow.ts';
import { replyBlock } from '../showing/reply-state.ts';
import { permits } from './permission.ts';

/** A press on a button that shows a turn's steps, and where they are to be shown. */
export interface StepsPress {
  workspace: string;
  turnId: string;
  person: string;
  /** From 0. */
  page: number;
  /** Opens a modal, or names the one that is open. */
  modal: { triggerId: string } | { viewId: string };
}

/** The modal with the steps of a turn: read from the service, whoever wrote the reply and however long ago. */
export class StepsModal {
  readonly #parts: RelayParts;

  constructor(parts: RelayParts) {
    this.#parts = parts;
  }

  /** Opens the modal at once, because a trigger lives 3 s, and fills it; or turns its page. Throws a SlackError. */
  async show(press: StepsPress): Promise<'done' | 'late' | 'unknown' | 'refused'> {
    const { modal, workspace, turnId, person } = press;
    const views = this.#parts.workspace(workspace)?.views;
    const turn = await this.#parts.store.turns.get(workspace, turnId);
    if (views === undefined) return 'unknown';
    if (turn !== undefined) {
      const { channel, root } = turn;
      const use = { workspace, channel, root, person, turn, control: 'steps', harmless: true };
      if (!(await permits(this.#parts, use))) return 'refused';
    }
    const viewId = 'viewId' in modal ? modal.viewId : await views.open(modal.triggerId, loadingView());
    if (viewId === undefined) return 'late';
    await views.update(viewId, await this.#view(press));
    return 'done';
  }

  async #view({ workspace, turnId, page }: StepsPress): Promise<ModalView> {
    const { store } = this.#parts;
    const turn = await store.turns.get(workspace, turnId);
    if (turn === undefined || turn.assistant_message_id === null) return noStepsView(words.stepsGone);
    const { task_id: latest, account } = await store.threads.expect(turn);
    const taskId = turn.task_id ?? latest;
    if (taskId === null) return noStepsView(words.stepsGone);
    try {
      const message = await this.#parts.agent(account).getMessage(taskId, turn.assistant_message_id);
      return stepsView(steps(message.content.map(replyBlock)), { turnId, page });
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      if (isGone(error)) return noStepsView(words.stepsGone);
      this.#parts.log.warn({ err: error, turn: turnId }, 'the steps of a turn cannot be read');
      return noStepsView(words.stepsAway);
    }
  }
}
