import type { RelayDeps } from '../../relay/runtime/deps.ts';
import {
  contextLineBlock,
  mrkdwnSection,
  plainText,
  sectionBlock,
} from '../../render/blocks/slack-blocks.ts';
import { formatChannel, formatPerson } from '../../render/blocks/task-lines.ts';
import type { ViewBlock } from '../../render/blocks/view-blocks.ts';
import * as strings from '../../render/strings/index.ts';
import { formatAge } from '../../render/text/duration.ts';
import { shorten } from '../../render/text/graphemes.ts';

const MAX_COMMENTS = 5;
const MAX_CHARACTERS = 500;

/** The newest comments on answers, in the Home tab of admins. */
export class FeedbackSection {
  readonly #deps: Pick<RelayDeps, 'store'>;

  constructor(deps: Pick<RelayDeps, 'store'>) {
    this.#deps = deps;
  }

  /** The section of an admin's Home tab. */
  async buildSection(workspace: string): Promise<ViewBlock[]> {
    const rows = await this.#deps.store.feedback.newestComments(workspace, MAX_COMMENTS);
    const comments = rows.flatMap(({ comment, is_positive, user_id, channel, given_at }): ViewBlock[] => {
      const facts = [
        is_positive ? strings.buttons.thumbsUp : strings.buttons.thumbsDown,
        formatPerson(user_id),
        channel === null ? '' : formatChannel(channel),
        formatAge(Date.now() - given_at.getTime()),
      ];
      return [
        mrkdwnSection(facts.filter((fact) => fact !== '').join(' · ')),
        sectionBlock(shorten(comment ?? '', MAX_CHARACTERS)),
      ];
    });
    return [
      { type: 'divider' },
      { type: 'header', text: plainText(strings.feedback.heading) },
      ...(comments.length === 0 ? [contextLineBlock(strings.feedback.none)] : comments),
    ];
  }
}
