import { type FormView, inputBlock } from '../../render/blocks/form-inputs.ts';
import { createModal, noticeModal } from '../../render/blocks/modal.ts';
import {
  type ActionsBlock,
  type ButtonElement,
  plainText,
  type SectionBlock,
  sectionBlock,
} from '../../render/blocks/slack-blocks.ts';
import type { HeaderBlock } from '../../render/blocks/view-blocks.ts';
import * as strings from '../../render/strings/index.ts';

/** The action and callback ids. */
export const ACCOUNT_ACTION_IDS = {
  set: 'account_set',
  remove: 'account_remove',
  form: 'account_form',
} as const;
/** The ids of the form's fields. */
export const ACCOUNT_FIELDS = { address: 'account_address', key: 'account_key' } as const;

/** What admins see of the account: never the key. */
export type AccountSummary =
  | { kind: 'own'; host: string; setBy: string; setAt: Date }
  /** Its key was erased when the app was uninstalled: it must be set again or removed. */
  | { kind: 'lost'; host: string }
  | { kind: 'shared' }
  | { kind: 'none' };

/** The account in an admin's Home tab. */
export function accountSection(account: AccountSummary): (HeaderBlock | SectionBlock | ActionsBlock)[] {
  const set = account.kind === 'own' ? strings.account.change : strings.account.set;
  const buttons: ButtonElement[] = [
    { type: 'button', text: plainText(set), action_id: ACCOUNT_ACTION_IDS.set },
  ];
  if (account.kind === 'own' || account.kind === 'lost') buttons.push(removeButton());
  return [
    { type: 'header', text: plainText(strings.account.heading) },
    { type: 'section', text: { type: 'mrkdwn', text: accountText(account) } },
    { type: 'actions', elements: buttons },
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
export function accountFormView(account: AccountSummary): FormView {
  const about = account.kind === 'none' ? [] : [sectionBlock(strings.account.aboutChange)];
  const address = inputBlock(
    {
      type: 'plain_text_input',
      action_id: ACCOUNT_FIELDS.address,
      max_length: 500,
      placeholder: plainText('https://…/v1'),
    },
    { label: strings.account.address, optional: false },
  );
  const key = inputBlock(
    { type: 'plain_text_input', action_id: ACCOUNT_FIELDS.key, max_length: 1_000 },
    { label: strings.account.key, hint: strings.account.keyHint, optional: false },
  );
  return {
    ...createModal(strings.account.title, [...about, address, key]),
    callback_id: ACCOUNT_ACTION_IDS.form,
    submit: plainText(strings.account.submit),
  };
}

/** The modal while the credentials are tried. */
export function accountPendingView(): FormView {
  return accountNoticeView(strings.account.testing);
}

/** The modal with one sentence, such as the outcome. */
export function accountNoticeView(sentence: string): FormView {
  return noticeModal(strings.account.title, sentence);
}

function removeButton(): ButtonElement {
  const { remove, removeTitle: removeSure, removeText, removeYes, removeNo } = strings.account;
  return {
    type: 'button',
    text: plainText(remove),
    action_id: ACCOUNT_ACTION_IDS.remove,
    style: 'danger',
    confirm: {
      title: plainText(removeSure),
      text: plainText(removeText),
      confirm: plainText(removeYes),
      deny: plainText(removeNo),
      style: 'danger',
    },
  };
}
