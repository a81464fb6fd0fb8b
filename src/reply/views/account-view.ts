import {
  type ActionsBlock,
  type ButtonElement,
  type PlainText,
  plainText,
  type SectionBlock,
} from '../slack-blocks.ts';
import * as words from '../words.ts';

/** The ids by which presses and submissions come back. */
export const accountIds = { set: 'account_set', remove: 'account_remove', form: 'account_form' } as const;
/** The blocks and actions of the form. */
export const accountFields = { address: 'account_address', key: 'account_key' } as const;

/** What is shown of a workspace's account: never the key. */
export type ShownAccount =
  | { kind: 'own'; host: string; setBy: string; setAt: Date }
  | { kind: 'shared' }
  | { kind: 'none' };

interface HeaderBlock {
  type: 'header';
  text: PlainText;
}

/** A question that Slack asks before it sends the press (100 characters of title, 300 of text, 30 of an answer). */
interface AskingButton extends ButtonElement {
  confirm: { title: PlainText; text: PlainText; confirm: PlainText; deny: PlainText; style: 'danger' };
}

interface InputBlock {
  type: 'input';
  block_id: string;
  label: PlainText;
  hint?: PlainText;
  element: { type: 'plain_text_input'; action_id: string; max_length: number; placeholder?: PlainText };
}

/** A modal (https://docs.slack.dev/reference/views/modal-views: a title of 24 characters). */
export interface AccountModal {
  type: 'modal';
  callback_id: string;
  title: PlainText;
  close: PlainText;
  submit?: PlainText;
  blocks: (SectionBlock | InputBlock)[];
}

/** The account's part of the Home tab, for admins. */
export function accountSection(account: ShownAccount): (HeaderBlock | SectionBlock | ActionsBlock)[] {
  const isOwn = account.kind === 'own';
  const said = isOwn
    ? words.account.own(account.host, account.setBy, account.setAt.toISOString().slice(0, 10))
    : words.account[account.kind];
  const set = isOwn ? words.account.change : words.account.set;
  const buttons: ButtonElement[] = [{ type: 'button', text: plainText(set), action_id: accountIds.set }];
  if (isOwn) buttons.push(removal());
  return [
    { type: 'header', text: plainText(words.account.heading) },
    { type: 'section', text: { type: 'mrkdwn', text: said } },
    { type: 'actions', elements: buttons },
  ];
}

/** The form that sets the account. */
export function accountForm(account: ShownAccount): AccountModal {
  const form: AccountModal['blocks'] = [
    {
      type: 'input',
      block_id: accountFields.address,
      label: plainText(words.account.address),
      element: {
        type: 'plain_text_input',
        action_id: accountFields.address,
        max_length: 500,
        placeholder: plainText('https://…/v1'),
      },
    },
    {
      type: 'input',
      block_id: accountFields.key,
      label: plainText(words.account.key),
      hint: plainText(words.account.keyHint),
      element: { type: 'plain_text_input', action_id: accountFields.key, max_length: 1_000 },
    },
  ];
  const blocks = account.kind === 'none' ? form : [sentence(words.account.aboutChange), ...form];
  return { ...modal(blocks), submit: plainText(words.account.submit) };
}

/** The modal with one sentence: while the account is tried, or what came of it. */
export function accountNote(text: string): AccountModal {
  return modal([sentence(text)]);
}

function modal(blocks: AccountModal['blocks']): AccountModal {
  return {
    type: 'modal',
    callback_id: accountIds.form,
    title: plainText(words.account.title),
    close: plainText(words.account.close),
    blocks,
  };
}

function sentence(text: string): SectionBlock {
  return { type: 'section', text: plainText(text) };
}

function removal(): AskingButton {
  const { remove, removeSure, removeText, removeYes, removeNo } = words.account;
  return {
    type: 'button',
    text: plainText(remove),
    action_id: accountIds.remove,
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
