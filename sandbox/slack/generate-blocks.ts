/** Writes blocks.generated.json from the types in @slack/types: `node sandbox/slack/generate-blocks.ts`. */
import { writeFileSync } from 'node:fs';
import { createGenerator } from 'ts-json-schema-generator';
import { isFields } from './model.ts';

/** Limits from Slack's documentation: characters of a string or text object, or items of a list. */
const LIMITS: Record<
  string,
  { length?: [number, number]; text?: [number, number]; items?: [number, number] }
> = {
  'ActionsBlock.elements': { items: [1, 25] },
  'Button.accessibility_label': { length: [1, 75] },
  'Button.text': { text: [1, 75] },
  'Button.url': { length: [1, 3000] },
  'Button.value': { length: [1, 2000] },
  'Checkboxes.options': { items: [1, 10] },
  'ConfirmationDialog.confirm': { text: [1, 30] },
  'ConfirmationDialog.deny': { text: [1, 30] },
  'ConfirmationDialog.text': { text: [1, 300] },
  'ConfirmationDialog.title': { text: [1, 100] },
  'ContextActionsBlock.elements': { items: [1, 5] },
  'ContextBlock.elements': { items: [1, 10] },
  'DataTableBlock.rows': { items: [1, 101] },
  'HeaderBlock.text': { text: [1, 150] },
  'ImageBlock.alt_text': { length: [1, 2000] },
  'ImageBlock.title': { text: [1, 2000] },
  'InputBlock.hint': { text: [1, 2000] },
  'InputBlock.label': { text: [1, 2000] },
  'MarkdownBlock.text': { length: [1, 12000] },
  'MrkdwnElement.text': { length: [1, 3000] },
  'MrkdwnOption.description': { text: [1, 75] },
  'MrkdwnOption.text': { text: [1, 75] },
  'MrkdwnOption.value': { length: [1, 150] },
  'Overflow.options': { items: [1, 5] },
  'PlainTextElement.text': { length: [1, 3000] },
  'PlainTextInput.initial_value': { length: [1, 3000] },
  'PlainTextInput.placeholder': { text: [1, 150] },
  'PlainTextOption.description': { text: [1, 75] },
  'PlainTextOption.text': { text: [1, 75] },
  'PlainTextOption.value': { length: [1, 150] },
  'PlanBlock.title': { length: [1, 256] },
  'RadioButtons.options': { items: [1, 10] },
  'RawTextElement.text': { length: [1, 10000] },
  'RichTextText.text': { length: [1, 12000] },
  'SectionBlock.fields': { items: [1, 10] },
  'SectionBlock.text': { text: [1, 3000] },
  'StaticSelect.options': { items: [1, 100] },
  'TableBlock.column_settings': { items: [1, 20] },
  'TableBlock.rows': { items: [1, 100] },
  'TaskCardBlock.title': { length: [1, 256] },
};

/** Limits of every field with this name. */
const EVERYWHERE: Record<string, [number, number]> = { block_id: [1, 255], action_id: [1, 255] };

const schema: unknown = createGenerator({
  path: new URL('../../node_modules/@slack/types/dist/index.d.ts', import.meta.url).pathname,
  type: 'KnownBlock',
  skipTypeCheck: true,
  additionalProperties: false,
  expose: 'all',
}).createSchema('KnownBlock');

const definitions = isFields(schema) && isFields(schema.definitions) ? schema.definitions : {};
const unused = new Set(Object.keys(LIMITS));
for (const [name, definition] of Object.entries(definitions)) limit(name, definition);
if (unused.size > 0) throw new Error(`@slack/types has no such fields: ${[...unused].join(', ')}`);
withoutFreeForm(definitions);
writeFileSync(
  new URL('./blocks.generated.json', import.meta.url),
  `${JSON.stringify({ definitions }, (key, value: unknown) => (isComment(key, value) ? undefined : value))}\n`,
);

function limit(name: string, definition: unknown): void {
  if (!isFields(definition)) return;
  if (Array.isArray(definition.anyOf)) for (const branch of definition.anyOf) limit(name, branch);
  if (!isFields(definition.properties)) return;
  for (const [field, property] of Object.entries(definition.properties)) {
    if (!isFields(property)) continue;
    const everywhere = EVERYWHERE[field];
    if (everywhere !== undefined)
      Object.assign(property, { minLength: everywhere[0], maxLength: everywhere[1] });
    const rule = LIMITS[`${name}.${field}`];
    if (rule === undefined) continue;
    unused.delete(`${name}.${field}`);
    if (rule.length !== undefined)
      Object.assign(property, { minLength: rule.length[0], maxLength: rule.length[1] });
    if (rule.items !== undefined)
      Object.assign(property, { minItems: rule.items[0], maxItems: rule.items[1] });
    if (rule.text === undefined) continue;
    const [minLength, maxLength] = rule.text;
    definition.properties[field] = {
      allOf: [
        { ...property },
        { type: 'object', properties: { text: { type: 'string', minLength, maxLength } } },
      ],
    };
  }
}

/** Whether this is a comment from the types; an option's `description` is a field of its own. */
function isComment(key: string, value: unknown): boolean {
  return key === 'description' && typeof value === 'string';
}

/** The types allow anything in a plan (`Record<string, unknown>`); Slack requires task cards. */
function withoutFreeForm(all: Record<string, unknown>): void {
  delete all['Record<string,unknown>'];
  const plan = all.PlanBlock;
  if (!isFields(plan) || !isFields(plan.properties))
    throw new Error('@slack/types no longer has a PlanBlock.');
  plan.properties.tasks = { type: 'array', items: { $ref: '#/definitions/TaskCardBlock' } };
}
