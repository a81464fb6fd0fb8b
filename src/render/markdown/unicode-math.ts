import { capitalise } from '../text-format.ts';
import { WORD_JOINER } from './pings.ts';

/*
 * Simple formulas in plain characters. It is all or nothing: a formula with one command, mark or index that is not listed
 * here, or that has no character, is no simple one.
 */

/** In the order of their characters, from U+03B1 and, with a capital, from U+0391. */
const GREEK = words(
  'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho varsigma sigma tau upsilon phi chi psi omega',
);
/** Commands that stand for a character, which takes spaces around it if it relates what is on its sides. */
const OPERATORS = pairs(`
  times × cdot · div ÷ pm ± mp ∓ ast ∗ star ⋆ circ ∘ bullet • oplus ⊕ otimes ⊗
  leq ≤ le ≤ geq ≥ ge ≥ neq ≠ ne ≠ ll ≪ gg ≫ approx ≈ sim ∼ simeq ≃ cong ≅ equiv ≡ propto ∝ mid ∣ parallel ∥ perp ⊥
  in ∈ notin ∉ subset ⊂ subseteq ⊆ supset ⊃ supseteq ⊇ cup ∪ cap ∩ setminus ∖ wedge ∧ land ∧ vee ∨ lor ∨
  to → rightarrow → longrightarrow ⟶ leftarrow ← gets ← longleftarrow ⟵ leftrightarrow ↔ uparrow ↑ downarrow ↓
  Rightarrow ⇒ implies ⇒ Leftarrow ⇐ Leftrightarrow ⇔ iff ⇔ mapsto ↦ rightleftharpoons ⇌
`);
const SYMBOLS = new Map([
  ...GREEK.map((name, at) => [name, String.fromCodePoint(0x3b1 + at)] as const),
  ...GREEK.map((name, at) => [capitalise(name), String.fromCodePoint(0x391 + at)] as const),
  ...pairs(`
    varepsilon ε vartheta ϑ varphi φ varrho ϱ infty ∞ partial ∂ nabla ∇ degree ° prime ′ ldots … dots … cdots ⋯ sum ∑ prod ∏
    int ∫ forall ∀ exists ∃ emptyset ∅ varnothing ∅ neg ¬ lnot ¬ hbar ℏ ell ℓ angle ∠ dagger † ddagger ‡ langle ⟨ rangle ⟩
    lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ AA Å
  `),
]);
const FUNCTIONS = new Set(
  words(
    'log ln lg exp sin cos tan cot sec sinh cosh tanh arcsin arccos arctan min max sup inf det dim ker deg gcd Pr',
  ),
);
/** Commands and escaped characters that only move what is beside them. */
const SPACES = new Map([...',;: '].map((mark) => [mark, ' ']));
for (const name of ['quad', 'qquad']) SPACES.set(name, ' ');
for (const name of ['!', 'left', 'right', 'displaystyle']) SPACES.set(name, '');

const SUPERSCRIPTS = characters(
  '0⁰1¹2²3³4⁴5⁵6⁶7⁷8⁸9⁹+⁺-⁻−⁻=⁼(⁽)⁾∘°°°′′AᴬBᴮDᴰEᴱGᴳHᴴIᴵJᴶKᴷLᴸMᴹNᴺOᴼPᴾRᴿTᵀUᵁVⱽWᵂ' +
    'aᵃbᵇcᶜdᵈeᵉfᶠgᵍhʰiⁱjʲkᵏlˡmᵐnⁿoᵒpᵖrʳsˢtᵗuᵘvᵛwʷxˣyʸzᶻαᵅβᵝγᵞδᵟεᵋθᶿιᶥφᵠχᵡ',
);
const SUBSCRIPTS = characters('0₀1₁2₂3₃4₄5₅6₆7₇8₈9₉+₊-₋−₋=₌(₍)₎aₐeₑhₕiᵢjⱼkₖlₗmₘnₙoₒpₚrᵣsₛtₜuᵤvᵥxₓβᵦγᵧρᵨφᵩχᵪ');

/** What a formula may have beside commands. Those with a mark of Markdown get another character that looks like it. */
const PLAIN = /^[\p{L}\p{M}\p{N}\s.,:;!?/()[\]+=<>%°·×±≤≥≠≈→←↔−′…∞]$/u;
const LOOK_ALIKES: Readonly<Record<string, string>> = { '-': '−', "'": '′', '*': '∗', '|': '∣', '~': ' ' };
/** What would read as a link, an address or a tag. */
const HAZARD = /:\/|www\.|\]\(|<(?![\s\d=−])|^!/i;
/** What would read as a block's mark, or as a part of a link with what stands beside it. */
const RISKY_START = /^(?:[>+=([]|\d{1,9}[.)])/;
const RISKY_END = /[\]!]$/;

/**
 * A formula or a script (`$x^2$`, `\(x\)`, `\alpha`, `^{-9}`, `<sub>2</sub>`) in plain characters, safe within Markdown and
 * never longer than its source; undefined if it is no simple one.
 */
export function unicodeFormula(source: string): string | undefined {
  const tag = /^<(su[bp])>([\s\S]*)<\/su[bp]>$/i.exec(source);
  const shown = tag === null ? readFormula(withoutDelimiters(source)) : scripted(tag[2] ?? '', tag[1] ?? '');
  if (shown === undefined || !/\S/.test(shown) || HAZARD.test(shown)) return undefined;
  const [before, after] = [RISKY_START, RISKY_END].map((risk) => (risk.test(shown) ? WORD_JOINER : ''));
  return `${before}${shown}${after}`;
}

function withoutDelimiters(source: string): string {
  return source.replace(/^(?:\$\$?|\\[([])|(?:\$\$?|\\[)\]])$/g, '');
}

function scripted(text: string, tag: string): string | undefined {
  return inScript(text, /sup/i.test(tag) ? SUPERSCRIPTS : SUBSCRIPTS);
}

/** A text in the characters of a script; its spaces separate nothing. */
function inScript(text: string, script: ReadonlyMap<string, string>): string | undefined {
  const shown = [...text.replace(/\s/g, '')].map((character) => script.get(character));
  return shown.length === 0 || shown.includes(undefined) ? undefined : shown.join('');
}

function readFormula(source: string): string | undefined {
  const shown = readItems(source);
  return shown?.replace(/\s+/g, ' ').replace(/(?<=[([{]|^) | (?=[)\]}]|$)/g, '');
}

const ITEM = /\\([A-Za-z]+)([ \t]*)|\\([^A-Za-z])|([_^])|(\{)|([\s\S])/uy;

function readItems(source: string): string | undefined {
  let shown = '';
  ITEM.lastIndex = 0;
  for (let at = 0; at < source.length; ) {
    ITEM.lastIndex = at;
    const item = ITEM.exec(source);
    if (item === null) return undefined;
    const { 0: all, 1: name, 2: space = '', 3: escaped, 4: script, 5: brace, 6: plain = '' } = item;
    at += all.length;
    let piece: string | undefined;
    if (script !== undefined || brace !== undefined || isGroupCommand(name)) {
      const group = brace === undefined ? groupAt(source, at) : groupAt(source, at - 1);
      if (group === undefined) return undefined;
      at = group.end;
      piece = groupText(group, script ?? name ?? '');
    } else if (name !== undefined) piece = commandText(name, space, source.slice(at, at + 1));
    else if (escaped !== undefined) piece = /[{}%]/.test(escaped) ? escaped : SPACES.get(escaped);
    else piece = LOOK_ALIKES[plain] ?? (PLAIN.test(plain) ? plain : undefined);
    if (piece === undefined) return undefined;
    shown += piece;
  }
  return shown;
}

function isGroupCommand(name: string | undefined): boolean {
  return (
    name === 'text' || name === 'textrm' || name === 'mathrm' || name === 'mathit' || name === 'operatorname'
  );
}

/** A command in characters. The space after it ends its name, and shows only where what follows is no name. */
function commandText(name: string, space: string, next: string): string | undefined {
  const operator = OPERATORS.get(name);
  if (operator !== undefined) return ` ${operator} `;
  const symbol = SYMBOLS.get(name);
  if (symbol !== undefined) return symbol + (/[\p{L}\\]/u.test(next) ? '' : space);
  return FUNCTIONS.has(name) ? name + space : SPACES.get(name);
}

/** What belongs to a mark: a group in braces, or one character or command. */
function groupAt(
  source: string,
  start: number,
): { text: string; isBraced: boolean; end: number } | undefined {
  const braced = /^\{((?:[^{}\\]|\\[\s\S]|\{[^{}]*\})*)\}/.exec(source.slice(start));
  if (braced !== null) return { text: braced[1] ?? '', isBraced: true, end: start + braced[0].length };
  // Of more letters or digits, nobody knows how many were meant.
  const [single] =
    /^(?:\\[A-Za-z]+|[A-Za-z](?![A-Za-z\d])|\d(?!\d)|[+-](?!\d)|[*'])/.exec(source.slice(start)) ?? [];
  return single === undefined ? undefined : { text: single, isBraced: false, end: start + single.length };
}

/** A group as its mark shows it: `_`, `^`, the name of a command for words, or '' for none. */
function groupText(
  { text, isBraced }: { text: string; isBraced: boolean },
  mark: string,
): string | undefined {
  if (mark.startsWith('text')) return isBraced && /^[\p{L}\p{N} .,:;()/+'-]*$/u.test(text) ? text : undefined;
  const inner = readItems(text);
  if (inner === undefined || !/^[_^]$/.test(mark)) return isBraced ? inner : undefined;
  return inScript(inner, mark === '^' ? SUPERSCRIPTS : SUBSCRIPTS);
}

function pairs(list: string): Map<string, string> {
  const all = words(list);
  return new Map(all.flatMap((word, at) => (at % 2 === 0 ? [[word, all[at + 1] ?? ''] as const] : [])));
}

function characters(list: string): Map<string, string> {
  return pairs([...list].join(' '));
}

function words(list: string): string[] {
  return list.trim().split(/\s+/);
}
