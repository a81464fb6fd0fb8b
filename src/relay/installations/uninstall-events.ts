import { z } from 'zod';
import { CHANNEL_LEVEL, JOB_KIND } from '../../store/jobs/jobs.ts';
import type { InstallationRow } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import type { JobKind } from '../runtime/job-runner.ts';
import type { InstalledWorkspaces } from './installed-workspaces.ts';
import { decryptTokens, type InstallationDeps } from './token-rotation.ts';

/** A Slack event about an installation that ends, or that is for fewer or more workspaces. */
export type UninstallEvent = {
  workspace: string | undefined;
  /** The organisation (`E…`) that it belongs to. */
  organisation: string | undefined;
  /** When it happened, by Slack's clock. */
  at: Date;
} & (
  | { kind: 'uninstalled' | 'revoked' }
  /** The organisation removes the app from some of its workspaces. */
  | { kind: 'access_revoked'; from: readonly string[] }
  /** The organisation adds the app to some of its workspaces. */
  | { kind: 'access_granted'; to: readonly string[] }
);

/** A refused token is asked about again after this time (ms): a second refusal ends its installation. */
const CONFIRM_AFTER_MS = 120_000;
/** An event this soon after an installation (ms) may be about the one before. */
const REINSTALL_WINDOW_MS = 120_000;

/** What a job knows of the event, and the version of the installation whose token Slack has refused. */
const payloadSchema = z.object({ why: z.string(), at: z.coerce.date(), refused: z.string().optional() });

/** Takes in an event; returns once it is stored. Throws a StoreError: then Slack must send it again. */
export async function acceptUninstallEvent(
  store: Pick<Store, 'installations' | 'jobs'>,
  event: UninstallEvent,
  workspaces: Pick<InstalledWorkspaces, 'find' | 'refresh'>,
): Promise<void> {
  const { organisation } = event;
  if (event.kind === 'access_revoked' || event.kind === 'access_granted') {
    if (organisation === undefined) return;
    // Another process may have dropped some.
    await workspaces.refresh();
    if (event.kind === 'access_revoked') await store.installations.revokeAccess(organisation, event.from);
    else
      for (const workspace of event.to)
        if ((await workspaces.find({ workspace })) === undefined)
          await store.installations.attachWorkspace(workspace, organisation);
    return await workspaces.refresh();
  }
  // The workspace's own installation; where that has ended or never existed, its organisation's.
  const own = event.workspace === undefined ? undefined : await store.installations.get(event.workspace);
  const workspace = own !== undefined && own.uninstalled_at === null ? own.workspace : organisation;
  if (workspace === undefined) return;
  const place = { workspace, channel: '', thread_ts: CHANNEL_LEVEL, key: '' };
  const payload = { why: event.kind, at: event.at.toISOString() };
  await store.jobs.want({ ...place, kind: JOB_KIND.uninstallation, payload });
}

/**
 * Jobs that end installations. Slack sends `tokens_revoked` and `app_uninstalled` in any order, perhaps late and after the
 * app was reinstalled. Whether the current token is still valid then tells which installation the event is about. One
 * refusal may be Slack's error: the installation ends with a second one, minutes later.
 */
export function uninstallationJobs(
  { store, keyring, slack, log }: InstallationDeps,
  onChanged: () => Promise<void>,
  confirmAfterMs = CONFIRM_AFTER_MS,
): JobKind {
  return {
    kind: JOB_KIND.uninstallation,
    share: 1,
    giveUpAfterMs: 3 * 24 * 60 * 60_000,
    perform: async ({ workspace, payload }) => {
      const { why, at, refused } = payloadSchema.parse(payload);
      const row = await store.installations.get(workspace);
      if (row === undefined || row.uninstalled_at !== null) return 'done';
      if (row.encrypted_tokens !== null && mayBeLate(row, at)) {
        const { token } = decryptTokens(keyring, workspace, row.encrypted_tokens).bot;
        if (await slack.isValid(token)) {
          log.info({ workspace }, 'ignored an uninstall event of an earlier installation');
          return 'done';
        }
        // A reinstallation changes it, a renewed token does not.
        const version = row.installed_at.toISOString();
        if (refused !== version) return { inMs: confirmAfterMs, payload: { why, at, refused: version } };
      }
      // The app may have been reinstalled while Slack was asked.
      if (!(await store.installations.markUninstalled(workspace, row.change_seq))) return { inMs: 0 };
      const details = { setting: 'installation', installed: false };
      await store.audit.add({ workspace, kind: 'setting', details });
      log.info({ workspace, why }, 'app uninstalled; its tokens are deleted');
      await onChanged();
      return 'done';
    },
    onGivenUp: 'counted',
  };
}

/** For an organisation the event does not say clearly what was uninstalled, so Slack is always asked. */
function mayBeLate({ is_enterprise_install, installed_at }: InstallationRow, at: Date): boolean {
  return is_enterprise_install || at.getTime() <= installed_at.getTime() + REINSTALL_WINDOW_MS;
}
