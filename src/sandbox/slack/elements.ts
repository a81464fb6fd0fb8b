import { type Block, type Fields, isFields } from './model.ts';

/** Every element with an action_id, with its block's id. */
function elements(blockId: unknown, value: unknown): { blockId: unknown; element: Fields }[] {
  if (Array.isArray(value)) return value.flatMap((one) => elements(blockId, one));
  if (!isFields(value)) return [];
  const inside = Object.values(value).flatMap((one) => elements(blockId, one));
  return typeof value.action_id === 'string' ? [{ blockId, element: value }, ...inside] : inside;
}

/** The action that pressing an element sends. @throws if there is no such element */
export function pressed(
  blocks: Block[],
  click: { actionId: string; value?: string },
  actionTs: string,
): Fields {
  const found = blocks
    .flatMap((block) => elements(block.block_id, block))
    .filter(({ element }) => element.action_id === click.actionId);
  const exact = found.find(
    ({ element }) => click.value === undefined || choices(element).some((one) => one.value === click.value),
  );
  if (exact === undefined)
    throw new Error(`Nothing to press: no ${click.actionId}${click.value ? ` = ${click.value}` : ''}.`);
  const { element, blockId } = exact;
  const common = { type: element.type, action_id: element.action_id, block_id: blockId, action_ts: actionTs };
  const option = choices(element).find((one) => one.value === click.value) ?? element;
  switch (element.type) {
    case 'button':
      return { ...common, text: element.text, ...present({ value: element.value, style: element.style }) };
    case 'icon_button':
    case 'feedback_buttons':
      return { ...common, ...present({ value: option.value, text: option.text }) };
    case 'checkboxes':
      return { ...common, selected_options: [option] };
    case 'users_select':
      return { ...common, selected_user: click.value };
    case 'channels_select':
      return { ...common, selected_channel: click.value };
    case 'conversations_select':
      return { ...common, selected_conversation: click.value };
    default:
      return { ...common, selected_option: option };
  }
}

/** What can be chosen in an element: itself, its options, or its two feedback buttons. */
function choices(element: Fields): Fields[] {
  const lists = [element.options, [element.positive_button, element.negative_button]];
  const options = lists.flatMap((list) => (Array.isArray(list) ? list.filter(isFields) : []));
  const takesAny = ['users_select', 'channels_select', 'conversations_select'].includes(String(element.type));
  return options.length > 0 || takesAny ? options : [element];
}

function present(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The state of a modal's inputs, by block_id and action_id; `values` are by action_id. */
export function filledIn(
  blocks: Block[],
  values: Record<string, string | string[]>,
): Record<string, Record<string, Fields>> {
  const filled: Record<string, Record<string, Fields>> = {};
  for (const block of blocks) {
    if (block.type !== 'input' || !isFields(block.element)) continue;
    const { element } = block;
    const actionId = String(element.action_id);
    filled[String(block.block_id)] = { [actionId]: inputValue(element, values[actionId]) };
  }
  return filled;
}

function inputValue(element: Fields, given: string | string[] | undefined): Fields {
  const type = String(element.type);
  const option = (value: string) => choices(element).find((one) => one.value === value) ?? { value };
  if (type.startsWith('multi_') || type === 'checkboxes') {
    const all = given === undefined ? [] : [given].flat();
    return { type, selected_options: all.map(option) };
  }
  const value = Array.isArray(given) ? given[0] : given;
  if (/^(static|external)_select$|^radio_buttons$/.test(type)) {
    return { type, selected_option: value === undefined ? null : option(value) };
  }
  const field: Record<string, string> = {
    users_select: 'selected_user',
    channels_select: 'selected_channel',
    conversations_select: 'selected_conversation',
    datepicker: 'selected_date',
    timepicker: 'selected_time',
  };
  return { type, [field[type] ?? 'value']: value ?? element.initial_value ?? null };
}
