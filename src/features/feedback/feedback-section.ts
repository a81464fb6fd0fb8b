import type { ViewBlock } from '../../render/blocks/modal.ts';
import {
  contextLineBlock,
  mrkdwnSection,
  plainText,
  sectionBlock,
} from '../../render/blocks/slack-blocks.ts';
import { formatChannel, formatPerson } from '../../render/blocks/task-lines.ts';
import * as strings from '../../render/strings/index.ts';
import { formatAge } from '../../render/text/duration.ts';
import { shorten } from '../../render/text/graphemes.ts';
import type { Store } from '../../store/store.ts';

const MAX_COMMENTS = 5;
/** How far back comments are looked for. */
const SHOWN_MS = 7 * 24 * 60 * 60_000;
const MAX_CHARACTERS = 500;

/** The newest comments on answers: a section of an admin's Home tab. */
export async function feedbackSection(
  { feedback }: Pick<Store, 'feedback'>,
  workspace: string,
): Promise<ViewBlock[]> {
  const given = await feedback.inRange({ since: new Date(Date.now() - SHOWN_MS), workspace });
  const rows = given.filter(({ comment }) => comment !== null).slice(-MAX_COMMENTS);
  const comments = rows
    .toReversed()
    .flatMap(({ comment, is_positive, user_id, channel, given_at }): ViewBlock[] => {
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
