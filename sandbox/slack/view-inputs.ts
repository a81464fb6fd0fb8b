import { type Block, type Fields, isFields } from './model.ts';

/** The most characters of a text input (https://docs.slack.dev/reference/block-kit/block-elements/plain-text-input-element). */
const MAX_TEXT = 3000;

/** A problem with an input block that its types cannot express; undefined if there is none. */
export function inputProblem(block: Fields): string | undefined {
  const { element } = block;
  if (!isFields(element)) return undefined;
  const most = element.max_length ?? MAX_TEXT;
  if (typeof most !== 'number' || most < 1 || most > MAX_TEXT) return `max_length must be 1 to ${MAX_TEXT}`;
  const { initial_value: initial } = element;
  if (typeof initial === 'string' && initial.length > most)
    return `initial_value must be less than ${most + 1} characters`;
  const options = Array.isArray(element.options) ? element.options.map((one) => JSON.stringify(one)) : [];
  const chosen = [element.initial_option, element.initial_options].flat().filter((one) => one !== undefined);
  if (options.length > 0 && chosen.some((one) => !options.includes(JSON.stringify(one))))
    return 'initial_option must be one of the options';
  return undefined;
}

/** The labels of required inputs that are empty; Slack's client does not submit a form with any. */
export function emptyInputs(
  blocks: readonly Block[],
  values: Record<string, Record<string, Fields>>,
): string[] {
  return blocks.flatMap((block) => {
    if (block.type !== 'input' || block.optional === true) return [];
    const states = Object.values(values[String(block.block_id)] ?? {});
    const isFilled = states.some((state) =>
      Object.entries(state).some(([field, value]) => field !== 'type' && hasContent(value)),
    );
    return isFilled ? [] : [isFields(block.label) ? String(block.label.text) : String(block.block_id)];
  });
}

function hasContent(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return value !== null && value !== undefined && value !== '';
}

/** The initial values of an element. */
export function initialValues(element: Fields): string[] {
  const option = (one: unknown) => (isFields(one) ? [String(one.value)] : []);
  if (Array.isArray(element.initial_options)) return element.initial_options.flatMap(option);
  if (Array.isArray(element.initial_conversations)) return element.initial_conversations.map(String);
  if (element.initial_option !== undefined) return option(element.initial_option);
  return [element.initial_value, element.initial_conversation].filter((one) => typeof one === 'string');
}
