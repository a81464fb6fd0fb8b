import { toListedResult } from '../../relay/replies/result-posts.ts';
import type { ControlRequest } from '../../relay/runtime/control-request.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { sendEphemeral } from '../../relay/runtime/private-messages.ts';
import { createModal } from '../../render/blocks/modal.ts';
import { resultModalBlocks, resultPages } from '../../render/messages/result-list.ts';
import * as strings from '../../render/strings/index.ts';
import { type ModalContent, type ModalOutcome, openAndFillModal } from '../open-modal.ts';
import { type TurnAtService, turnModalContent } from '../turn-modal.ts';

export interface FreshLinksPress extends ControlRequest {
  triggerId: string;
}

/**
 * Shows new links to a turn's results to the person who asks: in a modal or, if they do not fit there, at the end of the
 * thread. Throws a SlackError.
 */
export async function showFreshLinks(deps: RelayDeps, press: FreshLinksPress): Promise<ModalOutcome> {
  const about = { control: 'fresh_links', notFound: strings.filesNotFound };
  return openAndFillModal(deps, press, strings.freshLinksTitle, () =>
    turnModalContent(deps, press, about, (at) => render(deps, press, at)),
  );
}

async function render(
  deps: RelayDeps,
  { person }: FreshLinksPress,
  { turn, taskId, agent }: TurnAtService,
): Promise<ModalContent> {
  const claimed = await deps.store.results.ofThread(turn);
  const { results } = await agent.allResults(taskId);
  const listed = results
    .filter(({ id }) => claimed.get(id)?.turn_id === turn.id)
    .map((result) => toListedResult(result));
  if (listed.length === 0) return strings.filesNotFound;
  const blocks = resultModalBlocks(listed);
  if (blocks !== undefined) return createModal(strings.freshLinksTitle, blocks);
  const { workspace, channel, thread_ts: threadTs } = turn;
  for (const message of resultPages(listed))
    await sendEphemeral(deps, { workspace, channel, person, threadTs }, message);
  return strings.freshLinksBelow;
}
