import type { Fields } from '../page-protocol.ts';
import type { Surface } from './block-surface.ts';
import { button, type Child, confirmDialog, h, safeAddress } from './dom.ts';
import { icon } from './icons.ts';
import { choiceInput, INPUT_TYPES } from './inputs.ts';
import { isFields, maybeText, objects, plain, text } from './json-fields.ts';
import { webLink } from './links.ts';
import { openMenu } from './menu.ts';
import { mrkdwn } from './mrkdwn.ts';

/** Renders a text object: mrkdwn with styles, plain text unchanged. */
export function textObject(value: unknown): Child {
  if (!isFields(value)) return undefined;
  return value.type === 'mrkdwn' ? mrkdwn(text(value.text)) : text(value.text);
}

/** A button, select or other element that sends an action at once. */
export function element(one: Fields, blockId: string, surface: Surface): HTMLElement {
  const actionId = text(one.action_id);
  const key = `${blockId}/${actionId}`;
  switch (one.type) {
    case 'button':
      return actionButton(one, actionId, surface);
    case 'feedback_buttons':
      return feedback(one, actionId, surface);
    case 'overflow':
      return overflow(one, actionId, surface);
    default:
      if (!INPUT_TYPES.has(text(one.type)))
        return h('span', { class: 'unknown' }, `Unknown element: ${text(one.type)}`);
      return choiceInput(one, key, (values) => void sendAction(one, surface, actionId, values));
  }
}

function actionButton(one: Fields, actionId: string, surface: Surface): HTMLElement {
  const style = maybeText(one.style);
  const value = maybeText(one.value);
  const pressed = { actionId, ...(value === undefined ? {} : { value }) };
  const address = safeAddress(one.url);
  const label = maybeText(one.accessibility_label);
  const attributes = {
    class: `button ${style ?? ''}`,
    'data-key': `${actionId}/${value ?? ''}`,
    'data-action': actionId,
    'aria-label': label,
  };
  if (address === undefined) return press(surface, pressed, attributes, plain(one.text), one.confirm);
  return webLink(address, attributes, [plain(one.text)], () => void surface.act(pressed));
}

function press(
  surface: Surface,
  pressed: { actionId: string; value?: string },
  attributes: Record<string, string | undefined>,
  label: Child,
  confirm?: unknown,
  onAcknowledged?: (made: HTMLButtonElement) => void,
): HTMLButtonElement {
  const onClick = async () => {
    if (made.ariaBusy === 'true' || !(await confirmed(confirm))) return;
    made.ariaBusy = 'true';
    const acknowledged = await surface.act(pressed);
    made.ariaBusy = 'false';
    if (acknowledged) onAcknowledged?.(made);
  };
  const made = button({ ...attributes, onclick: () => void onClick() }, label);
  return made;
}

async function confirmed(raw: unknown): Promise<boolean> {
  if (!isFields(raw)) return true;
  return confirmDialog({
    title: plain(raw.title),
    text: plain(raw.text),
    yes: plain(raw.confirm) || 'Yes',
    no: plain(raw.deny) || 'No',
    style: raw.style === 'danger' ? 'danger' : 'primary',
  });
}

async function sendAction(one: Fields, surface: Surface, actionId: string, values: string[]): Promise<void> {
  if (!(await confirmed(one.confirm))) return;
  const [value] = values;
  const several = text(one.type).startsWith('multi_') || one.type === 'checkboxes';
  await surface.act({ actionId, ...(several ? { values } : value === undefined ? {} : { value }) });
}

function feedback(one: Fields, actionId: string, surface: Surface): HTMLElement {
  /** As in Slack, the last pressed thumb stays selected. */
  const chosen = (made: HTMLButtonElement) => {
    for (const thumb of made.parentElement?.children ?? [])
      thumb.setAttribute('aria-pressed', String(thumb === made));
  };
  const thumb = (raw: unknown, name: 'up' | 'down') => {
    if (!isFields(raw)) return undefined;
    const label = maybeText(raw.accessibility_label) ?? plain(raw.text);
    return press(
      surface,
      { actionId, value: text(raw.value) },
      {
        class: 'button quiet',
        'aria-label': label,
        title: label,
        'aria-pressed': 'false',
        'data-key': `${actionId}/${text(raw.value)}`,
      },
      icon(name),
      undefined,
      chosen,
    );
  };
  return h(
    'span',
    { class: 'feedback' },
    thumb(one.positive_button, 'up'),
    thumb(one.negative_button, 'down'),
  );
}

function overflow(one: Fields, actionId: string, surface: Surface): HTMLElement {
  const made = button({ class: 'button quiet', 'aria-label': 'More', 'data-key': actionId }, icon('more'));
  made.setAttribute('aria-haspopup', 'menu');
  made.addEventListener('click', () => {
    const items = objects(one.options).map((option) => ({
      label: plain(option.text),
      choose: () => void sendAction(one, surface, actionId, [text(option.value)]),
    }));
    openMenu(made, 'More', items);
  });
  return made;
}
