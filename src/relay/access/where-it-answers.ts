import * as strings from '../../render/strings/index.ts';
import { StoreError } from '../../store/errors.ts';
import { type Settings, WHOLE_WORKSPACE } from '../../store/workspaces/settings-store.ts';
import type { ChannelActor } from '../runtime/control-request.ts';
import type { AnswerLimits, RelayDeps } from '../runtime/deps.ts';
import { isDirectChannel } from '../runtime/incoming-message.ts';
import type { JobKind } from '../runtime/job-runner.ts';

/** Who keeps the bot from answering in a place. */
export type ClosedBy = keyof typeof strings.closedPlaces;

/** Whom a conversation is between: a person and the bot, a few people in a group message, or those in a channel. */
export type PlaceKind = 'direct' | 'group' | 'channel';

interface Place extends Pick<ChannelActor, 'workspace' | 'channel'> {
  /** Whether it is a group message, where Slack has just said so. */
  isGroup?: boolean;
}

type AnswerSettings = Pick<
  Settings,
  'answers_in' | 'answers_in_channels' | 'answers_here' | 'direct_messages' | 'group_messages'
>;

/** What the decision takes. */
export type PlaceDeps = Pick<RelayDeps, 'store' | 'workspace'> & {
  readonly settings: { readonly answers: AnswerLimits };
};

/** Who keeps the bot from answering there, if anybody does: the operator, then admins, then the channel, as far as these leave it. */
export function closedBy(
  kind: PlaceKind,
  channel: string,
  set: AnswerSettings,
  operator: AnswerLimits,
): ClosedBy | undefined {
  if (kind === 'channel') {
    if (operator.channels?.includes(channel) === false) return 'closed_by_operator';
    const isListed = set.answers_in_channels?.includes(channel) === true;
    if (set.answers_in === 'listed' && !isListed) return 'closed_by_admins';
    if (set.answers_in === 'channels' && set.answers_here !== 'on') return 'closed_by_channel';
  } else {
    const isDirect = kind === 'direct';
    if (!(isDirect ? operator.directMessages : operator.groupMessages)) return 'closed_by_operator';
    if ((isDirect ? set.direct_messages : set.group_messages) === 'off') return 'closed_by_admins';
  }
  return set.answers_here === 'off' ? 'closed_by_channel' : undefined;
}

/**
 * Who keeps the bot from answering in a channel now. Every way in asks this. Slack is asked only if a group message would be
 * decided otherwise than a channel; what it does not know is closed. Throws a StoreError, a SlackError or the signal's reason.
 */
export async function closingAt(
  deps: PlaceDeps,
  place: Place,
  signal?: AbortSignal,
): Promise<ClosedBy | undefined> {
  const set = await deps.store.settings.inForce(place.workspace, place.channel);
  return closingUnder(set, deps, place, signal);
}

/** Like `closingAt`, with what is set there. Throws a SlackError or the signal's reason. */
export async function closingUnder(
  set: AnswerSettings,
  { settings, workspace: clientOf }: Omit<PlaceDeps, 'store'>,
  { workspace, channel, isGroup }: Place,
  signal?: AbortSignal,
): Promise<ClosedBy | undefined> {
  if (channel === WHOLE_WORKSPACE) return undefined;
  const decide = (kind: PlaceKind) => closedBy(kind, channel, set, settings.answers);
  if (isDirectChannel(channel)) return decide('direct');
  const [asChannel, asGroup] = [decide('channel'), decide('group')];
  if (isGroup !== undefined) return isGroup ? asGroup : asChannel;
  if (asChannel === asGroup) return asChannel;
  const lookup = clientOf(workspace)?.people.requireChannel(channel, signal);
  const isClosed = asChannel !== undefined && asGroup !== undefined;
  const known = await (isClosed ? lookup?.catch(() => undefined) : lookup);
  if (known === undefined || known.kind === 'unknown') return asChannel ?? asGroup;
  return known.kind === 'group_dm' ? asGroup : asChannel;
}

/** Whether a refusal is about where the bot answers. */
export function isClosing(why: string): why is ClosedBy {
  return Object.hasOwn(strings.closedPlaces, why);
}

/** How long Slack may take to say who or what something is (ms): it waits 3 s itself for the answer to a press or command. */
export const LOOKUP_TIMEOUT_MS = 1_500;

/** Like `closingAt`; undefined also if Slack does not say in time: it is asked again before anything is sent. Throws a StoreError. */
export async function certainClosingAt(deps: PlaceDeps, place: Place): Promise<ClosedBy | undefined> {
  return closingAt(deps, place, AbortSignal.timeout(LOOKUP_TIMEOUT_MS)).catch((error: unknown) => {
    if (error instanceof StoreError) throw error;
    return undefined;
  });
}

/** A kind of jobs that ends without acting if the bot no longer answers in its channel: `onGivenUp` tells whom it concerns. */
export function onlyWhereAnswered(deps: PlaceDeps, kind: JobKind): JobKind {
  return {
    ...kind,
    perform: async (job, lease) => {
      if ((await closingAt(deps, job, lease.signal)) === undefined) return kind.perform(job, lease);
      if (kind.onGivenUp !== 'counted') await kind.onGivenUp(job, lease);
      return 'given_up';
    },
  };
}
