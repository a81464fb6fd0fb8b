import { AgentNotFoundError } from '../agent/errors.ts';
import { anySignal } from '../calls/retries-and-waits.ts';
import type { SourceChecker } from '../registries/source-checker.ts';
import { buttonUse } from '../relay/controls/used-button-note.ts';
import { asRendered } from '../relay/replies/fallback-forms.ts';
import { IdempotentPosts } from '../relay/replies/idempotent-posts.ts';
import { toReplyBlock } from '../relay/replies/reply-blocks.ts';
import type { RelayDeps } from '../relay/runtime/deps.ts';
import type { JobKind } from '../relay/runtime/job-runner.ts';
import type { Lease } from '../relay/runtime/lease.ts';
import { outcomeIfUnreachable } from '../relay/runtime/unreachable-threads.ts';
import { comparedChecks, sourceListMessage } from '../render/messages/checked-sources.ts';
import { listedSources, type Source } from '../render/messages/sources.ts';
import { JOB_KIND } from '../store/jobs/jobs.ts';
import type { Turn } from '../store/schema.ts';
import { SOURCES_PART } from '../store/threads/posts.ts';
import { taskIdOf } from '../store/threads/turns.ts';

/**
 * Jobs that ask registries about the sources of an answer, and mark them in its list: once, and once more later for what had
 * no answer. What fails costs nobody anything: the list stays as it is.
 */
export function sourceCheckJobs(deps: RelayDeps, checker: SourceChecker): JobKind {
  return {
    kind: JOB_KIND.sourceCheck,
    most: checker.most,
    timeoutMs: 60_000,
    giveUpAfterMs: 60 * 60_000,
    perform: async (job, lease) => {
      const turn = await deps.store.turns.get(job.workspace, job.key);
      const workspace = deps.workspace(job.workspace);
      // Nothing is found out again for somebody who was forgotten.
      if (turn === undefined || turn.asked_by === '') return 'done';
      if (workspace === undefined) return 'later';
      try {
        const blocks = await readAnswer(deps, turn, lease.signal);
        const find = () => listedSources(blocks).listed;
        const sources = await deps.rendering.run(turn.workspace, find, lease.signal);
        const checked = await checkSources(deps, checker, { turn, sources, lease });
        if (checked === undefined) return 'done';
        const use = await buttonUse(deps, turn, 'sources_message_ts');
        const message = sourceListMessage(turn.id, blocks, { ...checked, buttonUse: use });
        const posts = new IdempotentPosts({ deps, workspace, lease }, turn);
        await posts.load();
        if (message !== undefined) await posts.update(SOURCES_PART, message, [asRendered]);
        if (checked.isWhole || job.payload.isLate === true) return 'done';
        return { inMs: deps.settings.sourceLookAgainMs, payload: { isLate: true } };
      } catch (error) {
        if (error instanceof AgentNotFoundError) return 'done';
        return outcomeIfUnreachable(error, job);
      }
    },
    onGivenUp: 'counted',
  };
}

/** What the turn's answer says, as its thread shows it. Throws an AgentError. */
async function readAnswer(deps: RelayDeps, turn: Turn, signal: AbortSignal) {
  const thread = await deps.store.threads.getOrThrow(turn);
  const taskId = taskIdOf(turn, thread);
  if (taskId === null || turn.assistant_message_id === null) return [];
  const agent = deps.agent(thread.account_id);
  const answer = await agent.getMessage(taskId, turn.assistant_message_id, { signal });
  return answer.content.map(toReplyBlock);
}

/**
 * What is known of the sources, and recorded. Undefined if no registry in use knows any, or their asker was forgotten
 * meanwhile. `isWhole`: nothing may still come.
 */
async function checkSources(
  { store, settings }: RelayDeps,
  checker: SourceChecker,
  { turn, sources, lease }: { turn: Turn; sources: readonly Source[]; lease: Lease },
) {
  const ids = sources.flatMap(({ id }) => (id !== undefined && checker.covers(id) ? [id] : []));
  if (ids.length === 0) return undefined;
  const known = { ...(await store.registryAnswers.get(turn.workspace, ids)), ...turn.source_checks };
  const unknown = ids.filter((id) => known[id] === undefined);
  const fresh = await checker.check(
    unknown,
    anySignal([lease.signal, AbortSignal.timeout(settings.sourceCheckMs)]),
  );
  await store.registryAnswers.put(turn.workspace, fresh);
  const checks = comparedChecks(sources, { ...known, ...Object.fromEntries(fresh) });
  if (!(await store.registryAnswers.record(turn, checks))) return undefined;
  return { checks, isWhole: ids.every((id) => checks[id] !== undefined) };
}
