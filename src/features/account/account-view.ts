import { textInput } from '../../render/blocks/form-inputs.ts';
import { createModal, type Modal, noticeModal, type ViewBlock } from '../../render/blocks/modal.ts';
import {
  actionsBlock,
  type ButtonElement,
  buttonElement,
  dangerButton,
  mrkdwnSection,
  plainText,
  sectionBlock,
} from '../../render/blocks/slack-blocks.ts';
import * as strings from '../../render/strings/index.ts';

export const ACCOUNT_ACTION_IDS = {
  set: 'account_set',
  remove: 'account_remove',
  form: 'account_form',
} as const;
export const ACCOUNT_FIELDS = { address: 'account_address', key: 'account_key' } as const;

/** What admins see of the account: never the key. */
export type AccountSummary =
  | { kind: 'own'; host: string; setBy: string; setAt: Date }
  /** Its key was erased when the app was uninstalled: it must be set again or removed. */
  | { kind: 'lost'; host: string }
  | { kind: 'shared' }
  | { kind: 'none' };

/** The account in an admin's Home tab. */
export function accountSection(account: AccountSummary): ViewBlock[] {
  const set = account.kind === 'own' ? strings.account.change : strings.account.set;
  const buttons = [buttonElement(ACCOUNT_ACTION_IDS.set, set, 'set')];
  if (account.kind === 'own' || account.kind === 'lost') buttons.push(removeButton());
  return [
    { type: 'header', text: plainText(strings.account.heading) },
    mrkdwnSection(accountText(account)),
    actionsBlock(buttons),
  ];
}

function accountText(account: AccountSummary): string {
  switch (account.kind) {
    case 'own':
      return strings.account.own(account.host, account.setBy, account.setAt.toISOString().slice(0, 10));
    case 'lost':
      return strings.account.lost(account.host);
    default:
      return strings.account[account.kind];
  }
}

/** The form that sets the account. */
export function accountFormView(account: AccountSummary): Modal {
  const { address, key, keyHint } = strings.account;
  const about = account.kind === 'none' ? [] : [sectionBlock(strings.account.aboutChange)];
  return {
    ...createModal(strings.account.title, [
      ...about,
      textInput(ACCOUNT_FIELDS.address, { label: address, placeholder: 'https://…/v1' }, { maxLength: 500 }),
      textInput(ACCOUNT_FIELDS.key, { label: key, hint: keyHint }, { maxLength: 1_000 }),
    ]),
    callback_id: ACCOUNT_ACTION_IDS.form,
    submit: plainText(strings.account.submit),
  };
}

/** The modal while the credentials are tried. */
export function accountPendingView(): Modal {
  return noticeModal(strings.account.title, strings.account.testing);
}

function removeButton(): ButtonElement {
  const { remove, removeTitle: title, removeText: text, removeYes: yes, removeNo: no } = strings.account;
  return dangerButton(buttonElement(ACCOUNT_ACTION_IDS.remove, remove, 'remove'), { title, text, yes, no });
}
