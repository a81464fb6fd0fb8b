import {
  botsInput,
  type FormOption,
  type FormView,
  formOption,
  inputBlock,
} from '../../render/blocks/form-inputs.ts';
import { createModal, noticeModal } from '../../render/blocks/modal.ts';
import {
  type ActionsBlock,
  plainText,
  type SectionBlock,
  sectionBlock,
} from '../../render/blocks/slack-blocks.ts';
import type { HeaderBlock } from '../../render/blocks/view-blocks.ts';
import * as strings from '../../render/strings/index.ts';

/** The action and callback ids. */
export const WORKSPACE_ACCESS_ACTION_IDS = { change: 'door_change', form: 'door_form' } as const;

type AdmittedPeople = Exclude<keyof typeof strings.channelChoices.admits, 'usual'>;

/** Who may use the agent in a workspace; null and '' mean the app's own settings (`usual`). */
export interface WorkspaceAccessFields {
  admits: AdmittedPeople | null;
  /** As people type them: ids separated by commas, or the word none. */
  bots: string;
  usual: { admits: AdmittedPeople; bots: string };
}

/** The access settings in an admin's Home tab. */
export function workspaceAccessSection({
  admits,
  bots,
  usual,
}: WorkspaceAccessFields): (HeaderBlock | SectionBlock | ActionsBlock)[] {
  const people = strings.channelChoices.admits[admits ?? usual.admits][0];
  const text = strings.workspaceAccessSummary({
    people,
    own: admits !== null,
    bots: bots === '' ? usual.bots : bots,
  });
  const change = {
    type: 'button',
    text: plainText(strings.workspaceAccess.change),
    action_id: WORKSPACE_ACCESS_ACTION_IDS.change,
  } as const;
  return [
    { type: 'header', text: plainText(strings.workspaceAccess.heading) },
    sectionBlock(text),
    { type: 'actions', elements: [change] },
  ];
}

/** The form with the access settings. */
export function workspaceAccessFormView({ admits, bots, usual }: WorkspaceAccessFields): FormView {
  const choices: [AdmittedPeople | 'usual', string][] = [
    ['usual', strings.appDefault(strings.channelChoices.admits[usual.admits][0])],
    ['members', strings.channelChoices.admits.members[0]],
    ['guests', strings.channelChoices.admits.guests[0]],
    ['everyone', strings.channelChoices.admits.everyone[0]],
  ];
  const options = choices.map(([value, text]): FormOption => formOption(value, text));
  const current = options.find(({ value }) => value === (admits ?? 'usual'));
  const first = current === undefined ? {} : { initial_option: current };
  const people = inputBlock(
    { type: 'static_select', action_id: 'door_admits', options, ...first },
    { label: strings.workspaceAccess.admits, optional: false },
  );
  return {
    ...createModal(strings.workspaceAccess.title, [
      sectionBlock(strings.workspaceAccess.about),
      people,
      botsInput('door_bots', bots),
    ]),
    callback_id: WORKSPACE_ACCESS_ACTION_IDS.form,
    submit: plainText(strings.workspaceAccess.save),
  };
}

/** The modal with one sentence, in place of the form. */
export function workspaceAccessNoticeView(sentence: string): FormView {
  return noticeModal(strings.workspaceAccess.title, sentence);
}
