import type { RelayParts, Workspace } from '../context.ts';
import { passing } from '../patience.ts';
import { notAdmitted, type Writer } from './admittance.ts';
import { type Refusal, refusalDetails, refusalWords } from './refusing.ts';

/**
 * Why a person may not begin a task by a form, as a sentence; undefined where they may. The answer comes within so many
 * ms: what Slack has not told by then is no.
 */
export async function startRefused(
  parts: RelayParts,
  workspace: Workspace,
  writer: Writer,
  withinMs: number,
): Promise<string | undefined> {
  const refusal = await refusalOf(parts, workspace, writer, AbortSignal.timeout(withinMs));
  if (refusal === undefined) return undefined;
  const details = { ...refusalDetails(refusal), control: 'start' };
  await parts.store.audit.add({ ...writer, kind: 'refusal', details });
  parts.log.info({ ...writer, ...details }, 'a form was refused');
  return refusalWords(refusal);
}

async function refusalOf(
  parts: RelayParts,
  workspace: Workspace,
  writer: Writer,
  signal: AbortSignal,
): Promise<Refusal | undefined> {
  try {
    const why = await notAdmitted(parts, workspace.people, writer, signal);
    if (why !== undefined) return { why };
  } catch (error) {
    if (!signal.aborted && passing(error)?.trouble !== 'slack') throw error;
    return { why: 'unknown' };
  }
  const { store, settings } = parts;
  const excess = await store.allowances.excess(writer.workspace, writer.person, settings.limits);
  return excess && { why: 'limit', excess };
}
