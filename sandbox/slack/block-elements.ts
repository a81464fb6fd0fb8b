import { type Block, type Fields, isFields } from './model.ts';
import { initialValues } from './view-inputs.ts';

/** Returns the file object for an id; undefined if there is no such file. */
type FileOf = (id: string) => Fields | undefined;

const ONE_OPTION = ['static_select', 'radio_buttons', 'overflow'];
const STATELESS = ['button', 'feedback_buttons', 'overflow'];

/** Every element with an action_id, with its block's id. */
function elements(blockId: unknown, value: unknown): { blockId: unknown; element: Fields }[] {
  if (Array.isArray(value)) return value.flatMap((one) => elements(blockId, one));
  if (!isFields(value)) return [];
  const inside = Object.values(value).flatMap((one) => elements(blockId, one));
  return typeof value.action_id === 'string' ? [{ blockId, element: value }, ...inside] : inside;
}

/** The action payload of using an element. @throws if there is no such element */
export function pressAction(
  blocks: Block[],
  click: { actionId: string; value?: string; values?: string[] },
  actionTs: string,
): Fields {
  const wanted = click.values ?? (click.value === undefined ? [] : [click.value]);
  const found = blocks
    .flatMap((block) => elements(block.block_id, block))
    .filter(({ element }) => element.action_id === click.actionId);
  const exact = found.find(({ element }) => {
    const values = choices(element)?.map((one) => one.value);
    return values === undefined || wanted.every((value) => values.includes(value));
  });
  if (exact === undefined)
    throw new Error(
      `There is no element ${click.actionId}${click.value ? ` with the value ${click.value}` : ''}.`,
    );
  const { element, blockId } = exact;
  const common = { type: element.type, action_id: element.action_id, block_id: blockId, action_ts: actionTs };
  switch (element.type) {
    case 'button':
      return { ...common, text: element.text, ...present({ value: element.value, style: element.style }) };
    case 'feedback_buttons': {
      const option = choices(element)?.find((one) => one.value === click.value) ?? element;
      return { ...common, ...present({ value: option.value, text: option.text }) };
    }
    default:
      if (element.type === 'overflow' && wanted.length === 0)
        throw new Error('An item of a menu must be chosen.');
      return { ...common, ...chosen(element, wanted) };
  }
}

/** The options of an element; undefined if it takes any value. */
function choices(element: Fields): Fields[] | undefined {
  const lists = [element.options, element.positive_button, element.negative_button];
  const options = lists.flat().filter(isFields);
  if (options.length > 0) return options;
  return element.type === 'button' ? [element] : undefined;
}

/** The state of an element with these values. @throws for a type that the app does not use */
function chosen(element: Fields, values: string[], fileOf?: FileOf): Fields {
  const type = String(element.type);
  const [value] = values;
  const option = (wanted: string) =>
    choices(element)?.find((one) => one.value === wanted) ?? { value: wanted };
  if (type === 'checkboxes') return { selected_options: values.map(option) };
  if (ONE_OPTION.includes(type)) return { selected_option: value === undefined ? null : option(value) };
  if (type === 'file_input') return { files: values.flatMap((id) => fileOf?.(id) ?? []) };
  if (type === 'multi_conversations_select') return { selected_conversations: values };
  if (type === 'conversations_select') return { selected_conversation: value || null };
  if (type === 'plain_text_input') return { value: value || null };
  throw new Error(`The sandbox does not know the element ${type}.`);
}

function present(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/**
 * The state of a view, by block_id and action_id. `values` maps an action_id to its values, or `block_id/action_id` if
 * blocks share the action_id.
 */
export function viewState(
  blocks: Block[],
  values: Record<string, string | string[]>,
  fileOf?: FileOf,
): Record<string, Record<string, Fields>> {
  const filled: Record<string, Record<string, Fields>> = {};
  for (const block of blocks) {
    const blockId = String(block.block_id);
    for (const { element } of elements(blockId, [block.element, block.elements, block.accessory])) {
      if (STATELESS.includes(String(element.type))) continue;
      const actionId = String(element.action_id);
      const given = values[`${blockId}/${actionId}`] ?? values[actionId] ?? initialValues(element);
      const state = { type: element.type, ...chosen(element, [given].flat(), fileOf) };
      filled[blockId] = { ...filled[blockId], [actionId]: state };
    }
  }
  return filled;
}
