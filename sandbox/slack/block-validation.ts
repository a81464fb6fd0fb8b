import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import generated from './blocks.generated.json' with { type: 'json' };
import { type Block, isFields } from './model.ts';
import { planOrTableProblem } from './plan-and-table-rules.ts';
import { explainedRefusal, SlackRefusal } from './slack-refusal.ts';
import { inputProblem } from './view-inputs.ts';
import { TEXT_FIELDS } from './visible-text.ts';

/** Where blocks appear. */
export type Surface = 'message' | 'modal' | 'home';

/** The most characters of a message's blocks (Slack: "12,000 text characters"). */
const TEXT_LIMIT = 12_000;
/**
 * What all shown characters, with `<`, `>` and `&` as entities, and headings may take. Slack publishes neither number; 10,563
 * characters were measured beside 20 headings, and 7,875 beside 40.
 */
const SHOWN_LIMIT = 13_200;
const HEADING_SIZE = 134;

const MAX_BLOCKS: Record<Surface, number> = { message: 50, modal: 100, home: 100 };

/** The types that the app uses: others are refused, and a new one needs its limits in generate-blocks.ts. */
const EVERYWHERE = ['actions', 'context', 'divider', 'header', 'input', 'rich_text', 'section'];
const ALLOWED: Record<Surface, Set<string>> = {
  message: new Set([
    ...EVERYWHERE,
    ...['context_actions', 'data_table', 'image', 'markdown', 'plan', 'table', 'task_card'],
  ]),
  modal: new Set(EVERYWHERE),
  home: new Set([...EVERYWHERE, 'table']),
};

/** The generated schema definition of a block type, such as `TaskCardBlock` of `task_card`. */
function definitionOf(type: string): string {
  return `${type.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Block`;
}

const ajv = new Ajv({
  strict: true,
  strictTypes: false,
  allErrors: true,
  // Every process compiles them anew: neither repeated inside one another nor optimized, in a fifth of the time.
  inlineRefs: false,
  code: { optimize: false },
  schemas: [{ $id: 'blocks', ...generated }],
});
const compiled = new Map<string, ValidateFunction>();

/**
 * Checks blocks as Slack does: only known types and fields, within Slack's lengths and counts.
 * @throws SlackRefusal invalid_blocks_format, invalid_blocks, msg_blocks_too_long
 */
export function checkBlocks(raw: unknown, surface: Surface): Block[] {
  if (!Array.isArray(raw)) throw new SlackRefusal('invalid_blocks_format');
  const blocks = raw.map((block: unknown, at) => checkBlock(block, surface, `/blocks/${at}`));
  const shown = blocks.reduce((count, block) => count + shownAs(block), 0);
  if (shown > MAX_BLOCKS[surface])
    refuse([`no more than ${MAX_BLOCKS[surface]} items allowed [json-pointer:/blocks]`]);
  checkIds(blocks);
  const problem = planOrTableProblem(blocks);
  if (problem !== undefined) refuse([problem]);
  if (surface !== 'message') return blocks;
  const size = lengthOfTexts(blocks, escapedLength) + HEADING_SIZE * headingsIn(blocks);
  if (lengthOfTexts(blocks) > TEXT_LIMIT || size > SHOWN_LIMIT) throw new SlackRefusal('msg_blocks_too_long');
  return blocks;
}

function refuse(messages: string[]): never {
  throw explainedRefusal('invalid_blocks', messages);
}

function checkBlock(block: unknown, surface: Surface, pointer: string): Block {
  if (!isFields(block) || typeof block.type !== 'string')
    refuse([`missing required field: type [json-pointer:${pointer}]`]);
  const { type } = block;
  if (!ALLOWED[surface].has(type)) refuse([`unsupported type: ${type} [json-pointer:${pointer}/type]`]);
  const validate = validator(definitionOf(type));
  if (!validate(block)) refuse(explain(validate.errors ?? [], pointer));
  const problem = problemOf(block, type);
  if (problem !== undefined) refuse([`${problem} [json-pointer:${pointer}]`]);
  return { ...block, type };
}

function validator(definition: string): ValidateFunction {
  const known = compiled.get(definition);
  if (known !== undefined) return known;
  const made = ajv.compile({ $ref: `blocks#/definitions/${definition}` });
  compiled.set(definition, made);
  return made;
}

/** The most specific errors, without those of union branches for other types. */
function explain(errors: ErrorObject[], pointer: string): string[] {
  const meant = errors.filter((error) => error.keyword !== 'anyOf' && !isForOtherType(error));
  if (meant.length === 0)
    return [`unsupported type [json-pointer:${pointer}${errors[0]?.instancePath ?? ''}]`];
  const depth = (error: ErrorObject) => error.instancePath.split('/').length;
  const deepest = Math.max(...meant.map(depth));
  const messages = meant
    .filter((error) => depth(error) === deepest)
    .map((error) => {
      const field = error.params.additionalProperty;
      const detail = typeof field === 'string' ? `: ${field}` : '';
      return `${error.message ?? error.keyword}${detail} [json-pointer:${pointer}${error.instancePath}]`;
    });
  return [...new Set(messages)].slice(0, 5);
}

function isForOtherType({ keyword, instancePath, parentSchema, data }: ErrorObject): boolean {
  if (keyword === 'const' && instancePath.endsWith('/type')) return true;
  const properties: unknown = parentSchema?.properties;
  const wanted = isFields(properties) && isFields(properties.type) ? properties.type.const : undefined;
  return wanted !== undefined && isFields(data) && data.type !== wanted;
}

/** Checks rules between fields, which the schema from the types cannot express. */
function problemOf(block: Record<string, unknown>, type: string): string | undefined {
  if (type === 'section' && block.text === undefined && block.fields === undefined)
    return 'missing field: text or fields';
  if (type === 'section' && Array.isArray(block.fields)) {
    const long = block.fields.some((field) => isFields(field) && String(field.text).length > 2000);
    if (long) return 'must be less than 2001 characters: fields';
  }
  const input = type === 'input' ? inputProblem(block) : undefined;
  if (input !== undefined) return input;
  const url = urls(block).find((one) => !/^https?:\/\/[^\s]+$/.test(one));
  return url === undefined ? undefined : `invalid url: ${url.slice(0, 100)}`;
}

function urls(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(urls);
  if (!isFields(value)) return [];
  return Object.entries(value).flatMap(([field, inner]) => {
    const isUrl = field === 'url' && value.type !== 'link';
    return isUrl && typeof inner === 'string' ? [inner] : urls(inner);
  });
}

/** How many blocks Slack shows for this one: it splits a markdown block. */
function shownAs(block: Block): number {
  if (block.type !== 'markdown' || typeof block.text !== 'string') return 1;
  let count = 0;
  let inText = false;
  let inTable = false;
  let fence = '';
  for (const line of block.text.split('\n')) {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1];
    if (fence !== '') {
      if (mark?.startsWith(fence)) fence = '';
      continue;
    }
    if (mark !== undefined) fence = mark;
    const isTable = /^\s*\|.*\|\s*$/.test(line);
    const isSeparateBlock = /^#{1,6}\s/.test(line) || /^\s*(---+|\*\*\*+|___+)\s*$/.test(line);
    if (isSeparateBlock || (isTable && !inTable)) {
      count += 1;
      inText = false;
    } else if (!isTable && line.trim() !== '' && !inText) {
      count += 1;
      inText = true;
    }
    inTable = isTable;
  }
  return Math.max(1, count);
}

function checkIds(blocks: Block[]): void {
  const ids = new Set<string>();
  for (const [at, block] of blocks.entries()) {
    if (typeof block.block_id === 'string' && block.type !== 'markdown') {
      if (ids.has(block.block_id))
        refuse([`block_id already exists: ${block.block_id} [json-pointer:/blocks/${at}/block_id]`]);
      ids.add(block.block_id);
    }
    const actions = actionIds(block);
    const twice = actions.find((id, place) => actions.indexOf(id) !== place);
    if (twice !== undefined) refuse([`\`action_id\` must be unique: ${twice} [json-pointer:/blocks/${at}]`]);
  }
}

function actionIds(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(actionIds);
  if (!isFields(value)) return [];
  const own = typeof value.action_id === 'string' ? [value.action_id] : [];
  return [...own, ...Object.values(value).flatMap(actionIds)];
}

/** The lengths of all texts of blocks, in characters by default. */
function lengthOfTexts(value: unknown, lengthOf = (text: string) => text.length): number {
  if (Array.isArray(value))
    return value.reduce((sum: number, one: unknown) => sum + lengthOfTexts(one, lengthOf), 0);
  if (!isFields(value)) return 0;
  return Object.entries(value).reduce(
    (sum, [field, inner]) =>
      sum +
      (TEXT_FIELDS.has(field) && typeof inner === 'string'
        ? lengthOf(inner)
        : lengthOfTexts(inner, lengthOf)),
    0,
  );
}

function escapedLength(text: string): number {
  return text.replaceAll('&', '&amp;').replace(/[<>]/g, '&lt;').length;
}

/** Headings, as far as they begin with `#` outside of code. */
function headingsIn(blocks: readonly Block[]): number {
  const markdown = blocks.flatMap(({ type, text }) => (type === 'markdown' ? [String(text)] : []));
  const code = /^[ \t>]*(```+(?=[^`\n]*$)|~~~+)[\s\S]*?(?:^[ \t>]*\1[`~]*[ \t]*$|$(?![\s\S]))/gm;
  const text = markdown.join('\n\n').replace(code, '');
  const headings = text.match(/^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*#{1,6}[ \t]/gm) ?? [];
  return headings.length + blocks.filter(({ type }) => type === 'header').length;
}
