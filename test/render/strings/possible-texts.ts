import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'rolldown/utils';

/** Stands for what is filled in from outside: it counts as one word. */
const FILLED_IN = 'X';

/** More texts than one expression may have: it must be made simpler, so that all of them can be checked. */
const MOST_TEXTS = 5_000;

const source = fileURLToPath(new URL('../../../src/', import.meta.url));
const strings = readdirSync(join(source, 'render/strings'))
  .filter((name) => name.endsWith('.ts'))
  .map((name) => `render/strings/${name}`);

type Node = Readonly<Record<string, unknown>> & { readonly type: string };

/** A name's value and the scope that it belongs to; undefined if it comes from outside. */
type Binding = { readonly node: Node; readonly scope: Scope } | undefined;

/** The names that a piece of code sees. */
class Scope {
  readonly #names = new Map<string, Binding>();
  readonly #outer: Scope | undefined;

  constructor(outer?: Scope) {
    this.#outer = outer;
  }

  set(name: string, binding: Binding): void {
    this.#names.set(name, binding);
  }

  get(name: string): Binding {
    return this.#names.has(name) ? this.#names.get(name) : this.#outer?.get(name);
  }

  /** Adds the names that a declaration or a pattern of parameters brings. */
  declare(node: unknown, scope: Scope = this): void {
    if (Array.isArray(node)) for (const each of node) this.declare(each, scope);
    if (!isNode(node)) return;
    const { type, id, init } = node;
    if (type === 'ExportNamedDeclaration') this.declare(node.declaration);
    else if (type === 'VariableDeclaration') this.declare(node.declarations);
    else if (type === 'VariableDeclarator' && isNode(id) && id.type === 'Identifier' && isNode(init))
      this.set(String(id.name), { node: init, scope });
    else if (type === 'VariableDeclarator') this.declare(id);
    else if (type === 'FunctionDeclaration' && isNode(id)) this.set(String(id.name), { node, scope });
    else if (type === 'Identifier') this.set(String(node.name), undefined);
    else if (type === 'ObjectPattern') this.declare(node.properties);
    else if (type === 'ArrayPattern') this.declare(node.elements);
    else if (type === 'Property') this.declare(node.value);
    else if (type === 'AssignmentPattern') this.declare(node.left);
    else if (type === 'RestElement') this.declare(node.argument);
  }
}

/** Each text that a file of `src` can say, with the file; without files, all those of src/render/strings. */
export function possibleTexts(files: readonly string[] = strings): { file: string; text: string }[] {
  const shared = new Scope();
  for (const name of [...strings, 'render/text-format.ts']) shared.declare(programOf(name).body, shared);
  return files.flatMap((file) => {
    const program = programOf(file);
    const scope = new Scope(shared);
    scope.declare(program.body);
    const texts = new Set<string>();
    collect(program, scope, texts);
    return [...texts].map((text) => ({ file, text }));
  });
}

function programOf(file: string): Node {
  const { program, errors } = parseSync(file, readFileSync(join(source, file), 'utf8'));
  if (errors.length > 0 || !isNode(program)) throw new Error(`${file}: ${errors[0]?.message}`);
  return program;
}

function collect(node: unknown, scope: Scope, texts: Set<string>): void {
  if (Array.isArray(node)) for (const each of node) collect(each, scope, texts);
  if (!isNode(node) || node.type === 'ImportDeclaration' || /^TS(?:Type|Interface)/.test(node.type)) return;
  if (isText(node) || node.type === 'CallExpression') for (const text of expand(node, scope)) texts.add(text);
  const inner = isFunction(node) ? scopeOf(node, scope) : scope;
  for (const [key, value] of Object.entries(node)) if (key !== 'key') collect(value, inner, texts);
}

/** Every text that an expression can become. */
function expand(node: unknown, scope: Scope): string[] {
  if (!isNode(node)) return [FILLED_IN];
  const { type } = node;
  if (type === 'Literal') return [String(node.value)];
  if (type === 'TemplateLiteral') return product(partsOf(node, scope));
  if (type === 'BinaryExpression' && node.operator === '+')
    return product([expand(node.left, scope), expand(node.right, scope)]);
  if (type === 'ConditionalExpression')
    return [...expand(node.consequent, scope), ...expand(node.alternate, scope)];
  if (type === 'LogicalExpression') return [...expand(node.left, scope), ...expand(node.right, scope)];
  if (/^TS(?:As|Satisfies)Expression$|^ParenthesizedExpression$/.test(type))
    return expand(node.expression, scope);
  const joined = type === 'CallExpression' ? joinedTexts(node, scope) : undefined;
  if (joined !== undefined) return joined;
  const found = valuesOf(type === 'CallExpression' ? node.callee : node, scope);
  if (type === 'CallExpression')
    return found.flatMap((each) => resultsOf(each, listOf(node.arguments), scope));
  if (type !== 'Identifier' && type !== 'MemberExpression') return [FILLED_IN];
  return found.flatMap((each) => (each === undefined ? [FILLED_IN] : expand(each.node, each.scope)));
}

function partsOf(node: Node, scope: Scope): string[][] {
  const filled = listOf(node.expressions);
  return listOf(node.quasis).flatMap((quasi, index) => {
    const value = isNode(quasi) ? quasi.value : undefined;
    const text = typeof value === 'object' && value !== null && 'cooked' in value ? String(value.cooked) : '';
    return index < filled.length ? [[text], expand(filled[index], scope)] : [[text]];
  });
}

/** The texts of a list that is joined, each of its entries there. */
function joinedTexts({ callee, arguments: args }: Node, scope: Scope): string[] | undefined {
  if (!isNode(callee) || !isNode(callee.property) || callee.property.name !== 'join') return undefined;
  const list = isNode(callee.object) ? callee.object : undefined;
  if (list?.type !== 'ArrayExpression') return [FILLED_IN];
  const [separator = ','] = expand(listOf(args)[0], scope);
  return product(
    listOf(list.elements).flatMap((each, index) =>
      index === 0 ? [expand(each, scope)] : [[separator], expand(each, scope)],
    ),
  );
}

/** What a name or a member of an object stands for; all members if its key is computed. */
function valuesOf(node: unknown, scope: Scope): Binding[] {
  if (!isNode(node)) return [undefined];
  if (node.type === 'Identifier') return [scope.get(String(node.name))];
  if (node.type !== 'MemberExpression') return [{ node, scope }];
  const key = isNode(node.property) && node.computed !== true ? node.property.name : undefined;
  return valuesOf(node.object, scope).flatMap((object) => {
    const bare = object && bareNode(object.node);
    if (bare?.type !== 'ObjectExpression' || object === undefined) return [undefined];
    const members = listOf(bare.properties).filter(isNode);
    const named = members.filter(({ key: name }) => key === undefined || (isNode(name) && name.name === key));
    return named.map(({ value }) => (isNode(value) ? { node: value, scope: object.scope } : undefined));
  });
}

/** What a function returns for arguments; it is what is filled in if the function is not ours. */
function resultsOf(called: Binding, args: readonly unknown[], outer: Scope): string[] {
  if (called === undefined || !isFunction(called.node)) return [FILLED_IN];
  const scope = scopeOf(called.node, called.scope);
  listOf(called.node.params).forEach((param, index) => {
    const given = args[index];
    if (isNode(param) && param.type === 'Identifier' && isNode(given))
      scope.set(String(param.name), { node: given, scope: outer });
  });
  const { body } = called.node;
  if (isNode(body) && body.type !== 'BlockStatement') return expand(body, scope);
  const returned = returnsOf(body).flatMap((each) => expand(each, scope));
  return returned.length === 0 ? [FILLED_IN] : returned;
}

/** The scope of a function's body: its parameters come from outside. */
function scopeOf(node: Node, outer: Scope): Scope {
  const scope = new Scope(outer);
  scope.declare(node.params);
  if (isNode(node.body)) scope.declare(node.body.body);
  return scope;
}

function returnsOf(node: unknown): unknown[] {
  if (Array.isArray(node)) return node.flatMap(returnsOf);
  if (!isNode(node) || isFunction(node)) return [];
  return node.type === 'ReturnStatement' ? [node.argument] : Object.values(node).flatMap(returnsOf);
}

function product(parts: readonly (readonly string[])[]): string[] {
  let texts = [''];
  for (const part of parts) {
    const ends = [...new Set(part)];
    texts = texts.flatMap((text) => ends.map((end) => text + end));
    if (texts.length > MOST_TEXTS) throw new Error(`This has too many forms: ${texts[0]}`);
  }
  return texts;
}

function bareNode(node: Node): Node {
  return node.type.startsWith('TS') && isNode(node.expression) ? bareNode(node.expression) : node;
}

function isText({ type, value, operator }: Node): boolean {
  if (type === 'Literal') return typeof value === 'string';
  return type === 'TemplateLiteral' || (type === 'BinaryExpression' && operator === '+');
}

function isFunction({ type }: Node): boolean {
  return type === 'FunctionDeclaration' || type === 'ArrowFunctionExpression';
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
