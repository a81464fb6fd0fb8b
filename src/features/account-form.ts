import { randomUUID } from 'node:crypto';
import { probeAccount } from '../agent/account-probe.ts';
import { AgentError } from '../agent/errors.ts';
import { isPlausibleKey } from '../agent/forbidden-or-bad-key.ts';
import { adminRefusal } from '../relay/access/rights.ts';
import {
  isSameAccount,
  type ServiceClientOptions,
  type ServiceCredentials,
} from '../relay/installations/service-accounts.ts';
import type { ButtonHandlers, FormHandlers, WorkspaceActor } from '../relay/runtime/control-request.ts';
import type { RelayDeps } from '../relay/runtime/deps.ts';
import { formModal, type Modal, noticeModal, textInput, type ViewBlock } from '../render/blocks/modal.ts';
import {
  actionsBlock,
  buttonElement,
  dangerButton,
  mrkdwnSection,
  plainText,
  sectionBlock,
} from '../render/blocks/slack-blocks.ts';
import * as strings from '../render/strings/index.ts';
import { encryptionContext, type Keyring } from '../store/workspaces/encryption.ts';
import { type ModalOutcome, type ModalTrigger, openForAdmins, updateModal } from './modals.ts';

export interface WorkspaceAccountDeps extends Pick<RelayDeps, 'workspace' | 'store' | 'settings' | 'log'> {
  /** Undefined without SECRET_KEY: then no workspace can have an account of its own. */
  keyring: Keyring | undefined;
  /** Whether the settings name an account for workspaces without one. */
  hasDefaultAccount: boolean;
  clientOptions: (workspace: string) => ServiceClientOptions;
  /** Keeps a key out of the log until the returned function is called. */
  redactSecret: (secret: string) => () => void;
  onChanged: () => Promise<void>;
  updateHome: (actor: WorkspaceActor) => Promise<void>;
}

type RefusalReason = keyof typeof strings.account.refused;

const ONLY_ADMINS = { control: 'account', refusal: strings.account.refused.not_admin };

/** A workspace's own account at the service, set by admins in the Home tab. Credentials are tried before. */
export function workspaceAccount(deps: WorkspaceAccountDeps) {
  const buttons: ButtonHandlers<'account_set' | 'account_remove'> = {
    account_set: open,
    account_remove: remove,
  };
  const forms: FormHandlers = {
    [ACCOUNT_FORM]: async ({ workspace, person, viewId, input }) => {
      const text = (id: string) => input(id)?.value ?? '';
      const credentials = { baseUrl: text(ACCOUNT_FIELDS.address), apiKey: text(ACCOUNT_FIELDS.key) };
      const afterwards = () => submit({ workspace, person }, viewId, credentials);
      return { view: noticeModal(strings.account.title, strings.account.testing), afterwards };
    },
  };

  /** The section of an admin's Home tab; empty if workspaces cannot have an account of their own. */
  async function buildSection(workspace: string): Promise<ReturnType<typeof accountSection>> {
    return deps.keyring === undefined ? [] : accountSection(await summary(workspace));
  }

  async function open(actor: WorkspaceActor & ModalTrigger): Promise<ModalOutcome> {
    return openForAdmins(deps, actor, { title: strings.account.title, ...ONLY_ADMINS }, async () =>
      deps.keyring === undefined ? ONLY_ADMINS.refusal : accountFormView(await summary(actor.workspace)),
    );
  }

  /** Tries the credentials, saves them if they work, and shows the outcome in the modal. Throws a SlackError. */
  async function submit(actor: WorkspaceActor, viewId: string, submitted: ServiceCredentials): Promise<void> {
    const { workspace } = actor;
    const sentence = await set(actor, submitted).catch((error: unknown) => {
      deps.log.error({ workspace, err: error }, 'could not save a service account');
      return strings.account.refused.failed;
    });
    await updateModal(deps.workspace(workspace), viewId, strings.account.title, sentence);
    await deps.updateHome(actor);
  }

  async function remove(actor: WorkspaceActor) {
    const { store, log, onChanged, updateHome } = deps;
    const { workspace, person } = actor;
    const told = await adminRefusal(deps, actor, ONLY_ADMINS);
    if (told === undefined && (await store.accounts.remove(workspace))) {
      const details = { setting: 'account', removed: true };
      await store.audit.add({ workspace, kind: 'setting', user_id: person, details });
      log.info({ workspace }, 'service account of a workspace removed');
      await onChanged();
    }
    await updateHome(actor);
    return { outcome: 'done' as const, told };
  }

  async function summary(workspace: string): Promise<AccountSummary> {
    const { store, hasDefaultAccount } = deps;
    const row = await store.accounts.current(workspace);
    if (row === undefined) return { kind: hasDefaultAccount ? 'shared' : 'none' };
    const { host } = new URL(row.base_url);
    if (row.encrypted_api_key === null) return { kind: 'lost', host };
    return { kind: 'own', host, setBy: row.set_by, setAt: row.set_at };
  }

  /** Tries credentials and saves them if they work. With another key of the same account, its threads continue. */
  async function set(actor: WorkspaceActor, submitted: ServiceCredentials): Promise<string> {
    const { keyring, redactSecret } = deps;
    if (keyring === undefined) return ONLY_ADMINS.refusal;
    const refusal = await adminRefusal(deps, actor, ONLY_ADMINS);
    if (refusal !== undefined) return refusal;
    const baseUrl = submitted.baseUrl.trim().replace(/\/+$/, '');
    const credentials = { apiKey: submitted.apiKey.trim(), baseUrl };
    if (!isPlausibleKey(credentials.apiKey)) return strings.account.refused.odd_key;
    const stopRedacting = redactSecret(credentials.apiKey);
    try {
      return await save(keyring, actor, credentials);
    } finally {
      stopRedacting();
    }
  }

  async function save(
    keyring: Keyring,
    actor: WorkspaceActor,
    credentials: ServiceCredentials,
  ): Promise<string> {
    const { store, log, onChanged } = deps;
    const { workspace, person } = actor;
    const probeResult = await probe(workspace, credentials);
    if (probeResult !== 'good') return strings.account.refused[probeResult];
    const current = await store.accounts.current(workspace);
    const options = deps.clientOptions(workspace);
    const isSame = current !== undefined && (await isSameAccount(store, current, credentials, options));
    const account = isSame ? current.account_id : randomUUID();
    const key = { workspace, account_id: account };
    const encrypted_api_key = keyring.encrypt(credentials.apiKey, encryptionContext.account(key));
    const row = { ...key, base_url: credentials.baseUrl, set_by: person, encrypted_api_key };
    // How long the credentials were tried is up to the address: the right may be gone, or the app.
    const late = await adminRefusal(deps, actor, ONLY_ADMINS);
    if (late !== undefined) return late;
    if (!(await store.accounts.put(row))) return strings.account.refused.failed;
    const details = { setting: 'account', sameAccount: isSame };
    await store.audit.add({ workspace, kind: 'setting', user_id: person, details });
    log.info({ workspace, account, sameAccount: isSame }, 'service account of a workspace set');
    await onChanged();
    return isSame ? strings.account.keyReplaced : strings.account.saved;
  }

  async function probe(workspace: string, credentials: ServiceCredentials): Promise<'good' | RefusalReason> {
    try {
      return await probeAccount({ ...credentials, ...deps.clientOptions(workspace) });
    } catch (error) {
      // The address's own response is never shown: it might come from a host inside our network.
      if (error instanceof TypeError) return 'bad_address';
      if (!(error instanceof AgentError)) throw error;
      deps.log.info({ workspace, code: error.code }, 'the service account to be set does not answer');
      return error.code === 'not_understood' ? 'no_service' : 'unreachable';
    }
  }

  return { buttons, forms, buildSection };
}

const ACCOUNT_FORM = 'account_form';
const ACCOUNT_FIELDS = { address: 'account_address', key: 'account_key' } as const;

/** What admins see of the account: never the key. */
export type AccountSummary =
  | { kind: 'own'; host: string; setBy: string; setAt: Date }
  /** Its key was erased when the app was uninstalled: it must be set again or removed. */
  | { kind: 'lost'; host: string }
  | { kind: 'shared' }
  | { kind: 'none' };

/** The account in an admin's Home tab. */
export function accountSection(account: AccountSummary): ViewBlock[] {
  const label = account.kind === 'own' ? strings.account.change : undefined;
  const buttons = [buttonElement('account_set', 'set', label)];
  let text: string;
  if (account.kind === 'own') text = strings.account.own(account.host, account.setBy, account.setAt);
  else text = account.kind === 'lost' ? strings.account.lost(account.host) : strings.account[account.kind];
  if ('host' in account) {
    const { removeTitle: title, removeText, removeYes: yes, removeNo: no } = strings.account;
    const remove = buttonElement('account_remove', 'remove');
    buttons.push(dangerButton(remove, { title, text: removeText, yes, no }));
  }
  return [
    { type: 'header', text: plainText(strings.account.heading) },
    mrkdwnSection(text),
    actionsBlock(buttons),
  ];
}

function accountFormView(account: AccountSummary): Modal {
  const { address, key, keyHint } = strings.account;
  const about = account.kind === 'none' ? [] : [sectionBlock(strings.account.aboutChange)];
  const inputs = [
    textInput(ACCOUNT_FIELDS.address, { label: address, placeholder: 'https://…/v1' }, { maxLength: 500 }),
    textInput(ACCOUNT_FIELDS.key, { label: key, hint: keyHint }, { maxLength: 1_000 }),
  ];
  const form = { callback: ACCOUNT_FORM, submit: strings.account.submit };
  return formModal(strings.account.title, [...about, ...inputs], form);
}
