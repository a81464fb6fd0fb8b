import { type ActionsBlock, plainText, type SectionBlock, sectionBlock } from '../slack-blocks.ts';
import * as words from '../words.ts';
import { botsInput, type FormOption, type FormView, inputBlock, formOption } from './inputs.ts';
import { createModal, noticeModal } from './modal.ts';
import type { HeaderBlock } from './view-blocks.ts';

/** The ids by which the press and the form come back. */
export const WORKSPACE_ACCESS_ACTION_IDS = { change: 'door_change', form: 'door_form' } as const;

type AdmittedPeople = Exclude<keyof typeof words.channelChoices.admits, 'usual'>;

/** Who may use the agent in a workspace; null and '': as the whole app's settings (`usual`) say. */
export interface WorkspaceAccessFields {
  admits: AdmittedPeople | null;
  /** As people type them: ids between commas, or the word none. */
  bots: string;
  usual: { admits: AdmittedPeople; bots: string };
}

/** Its part of the Home tab, for admins. */
export function workspaceAccessSection({
  admits,
  bots,
  usual,
}: WorkspaceAccessFields): (HeaderBlock | SectionBlock | ActionsBlock)[] {
  const people = words.channelChoices.admits[admits ?? usual.admits][0];
  const said = words.doorSays({ people, own: admits !== null, bots: bots === '' ? usual.bots : bots });
  const change = { type: 'button', text: plainText(words.door.change), action_id: WORKSPACE_ACCESS_ACTION_IDS.change } as const;
  return [
    { type: 'header', text: plainText(words.door.heading) },
    sectionBlock(said),
    { type: 'actions', elements: [change] },
  ];
}

/** The form that sets it. */
export function workspaceAccessFormView({ admits, bots, usual }: WorkspaceAccessFields): FormView {
  const choices: [AdmittedPeople | 'usual', string][] = [
    ['usual', words.doorUsual(words.channelChoices.admits[usual.admits][0])],
    ['members', words.channelChoices.admits.members[0]],
    ['guests', words.channelChoices.admits.guests[0]],
    ['everyone', words.channelChoices.admits.everyone[0]],
  ];
  const options = choices.map(([value, text]): FormOption => formOption(value, text));
  const now = options.find(({ value }) => value === (admits ?? 'usual'));
  const first = now === undefined ? {} : { initial_option: now };
  const people = inputBlock(
    { type: 'static_select', action_id: 'door_admits', options, ...first },
    { label: words.door.admits, optional: false },
  );
  return {
    ...createModal(words.door.title, [sectionBlock(words.door.about), people, botsInput('door_bots', bots)]),
    callback_id: WORKSPACE_ACCESS_ACTION_IDS.form,
    submit: plainText(words.door.save),
  };
}

/** The modal with one sentence, in place of the form. */
export function workspaceAccessNoticeView(sentence: string): FormView {
  return noticeModal(words.door.title, sentence);
}
