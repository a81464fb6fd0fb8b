import { capitalise } from '../text-format.ts';
import { WORD_JOINER } from './pings.ts';

/*
 * Simple formulas in plain characters. It is all or nothing: a formula with one command, mark or index that is not listed
 * here, or that has no character, is no simple one.
 */

/** In the order of their characters, from U+03B1 and, with a capital, from U+0391. */
const GREEK =
  'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho varsigma sigma tau upsilon phi chi psi omega';
/** Characters that relate what is on their sides, and so take spaces. */
const OPERATORS = `
  times × cdot · div ÷ pm ± mp ∓ ast ∗ star ⋆ circ ∘ bullet • oplus ⊕ otimes ⊗
  leq ≤ le ≤ geq ≥ ge ≥ neq ≠ ne ≠ ll ≪ gg ≫ approx ≈ sim ∼ simeq ≃ cong ≅ equiv ≡ propto ∝ mid ∣ parallel ∥ perp ⊥
  in ∈ notin ∉ subset ⊂ subseteq ⊆ supset ⊃ supseteq ⊇ cup ∪ cap ∩ setminus ∖ wedge ∧ land ∧ vee ∨ lor ∨
  to → rightarrow → longrightarrow ⟶ leftarrow ← gets ← longleftarrow ⟵ leftrightarrow ↔ uparrow ↑ downarrow ↓
  Rightarrow ⇒ implies ⇒ Leftarrow ⇐ Leftrightarrow ⇔ iff ⇔ mapsto ↦ rightleftharpoons ⇌`;
const SYMBOLS = `
  varepsilon ε vartheta ϑ varphi φ varrho ϱ infty ∞ partial ∂ nabla ∇ degree ° prime ′ ldots … dots … cdots ⋯ sum ∑ prod ∏
  int ∫ forall ∀ exists ∃ emptyset ∅ varnothing ∅ neg ¬ lnot ¬ hbar ℏ ell ℓ angle ∠ dagger † ddagger ‡ langle ⟨ rangle ⟩
  lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ AA Å`;
const FUNCTIONS =
  'log ln lg exp sin cos tan cot sec sinh cosh tanh arcsin arccos arctan min max sup inf det dim ker deg gcd Pr';
/** Commands in characters; those that are not here make a formula no simple one. */
const COMMANDS = new Map([
  ...GREEK.split(' ').map((name, at) => [name, String.fromCodePoint(0x3b1 + at)] as const),
  ...GREEK.split(' ').map((name, at) => [capitalise(name), String.fromCodePoint(0x391 + at)] as const),
  ...pairs(SYMBOLS),
  ...[...pairs(OPERATORS)].map(([name, character]) => [name, ` ${character} `] as const),
  ...FUNCTIONS.split(' ').map((name) => [name, name] as const),
  ...[',', ';', ':', ' ', 'quad', 'qquad'].map((name) => [name, ' '] as const),
  ...['!', 'left', 'right', 'displaystyle', 'mathrm', 'mathit', 'mathbf'].map((name) => [name, ''] as const),
]);

const SUPERSCRIPTS = characters(
  '0⁰1¹2²3³4⁴5⁵6⁶7⁷8⁸9⁹+⁺-⁻/⁄=⁼(⁽)⁾∘°°°′′AᴬBᴮDᴰEᴱGᴳHᴴIᴵJᴶKᴷLᴸMᴹNᴺOᴼPᴾRᴿTᵀUᵁVⱽWᵂ' +
    'aᵃbᵇcᶜdᵈeᵉfᶠgᵍhʰiⁱjʲkᵏlˡmᵐnⁿoᵒpᵖrʳsˢtᵗuᵘvᵛwʷxˣyʸzᶻαᵅβᵝγᵞδᵟεᵋθᶿιᶥφᵠχᵡ',
);
const SUBSCRIPTS = characters('0₀1₁2₂3₃4₄5₅6₆7₇8₈9₉+₊-₋/⁄=₌(₍)₎aₐeₑhₕiᵢjⱼkₖlₗmₘnₙoₒpₚrᵣsₛtₜuᵤvᵥxₓβᵦγᵧρᵨφᵩχᵪ');
const TAG_MARKS: Readonly<Record<string, string>> = { sup: '^', sub: '_' };

/** Words within a formula. */
const WORDS = /\\(?:text(?:rm|it|bf)?|mathrm|mathit|operatorname)[ \t]*\{([\p{L}\p{N} .,:;()/+'-]*)\}/gu;
/** The space after the name of a command shows only where what follows is no name. */
const COMMAND = /\\(?:([A-Za-z]+)((?:[ \t]+(?=[\p{L}\\]))?)|([^A-Za-z{}%]))/gu;
/** Of more letters or digits without braces, nobody knows how many were meant. */
const SCRIPT =
  /([_^])(?:\{((?:[^{}\\]|\{[^{}\\]*\})*)\}|([A-Za-z](?![A-Za-z\d])|\d(?!\d)|[^A-Za-z\d\s\\{}_^+-]|[+-](?!\d)))/g;
/** What a formula may have in the end. What has a mark of Markdown gets another character that looks like it. */
const PLAIN = /^(?:[\p{L}\p{M}\p{N}\p{Sm}\s.,:;!?/()[\]<>%°·•∙′…†‡⋯⟨⟩⌊⌋⌈⌉∠‐−∗∣]|\\[{}%])*$/u;
const LOOK_ALIKES: Readonly<Record<string, string>> = { '-': '−', "'": '′', '*': '∗', '|': '∣', '~': ' ' };
/** What would read as a link, an address or a tag. */
const HAZARD = /:\/|www\.|\]\(|<(?![\s\d=−]|$)|^!/i;
/** What would read as a block's mark, or as a part of a link with what stands beside it. */
const RISKY_START = /^(?:[>=([#]|(?:\+|\d{1,9}[.)])(?!\S))/;
const RISKY_END = /[\]!<]$/;

/** Words that can stand without a tag of HTML that only styles them. */
const STYLED = /^(?![+-]\s|.*:\w{1,4}:)[\p{L}\p{N}([+±−-][\p{L}\p{M}\p{N}\p{Pd}\s.,:;/()[\]%°′'’+=±−×∞→·]*$/u;

/**
 * A formula or a tag's text (`$x^2$`, `\(x\)`, `\alpha`, `^{-9}`, `<sub>2</sub>`, `<i>x</i>`) in plain characters, never longer
 * than its source, safe within Markdown; undefined if it is no simple one, such as a script of which a sign has no such character.
 */
export function unicodeFormula(source: string): string | undefined {
  const [, tag, inside = ''] = /^<(su[bp]|[bi]|em|strong)>(.*)<\/\1>$/i.exec(source) ?? [];
  const formula = source.replace(/^(?:\$\$?|\\[([])|(?:\$\$?|\\[)\]])$/g, '');
  const shown = tag === undefined ? readFormula(formula) : readTag(tag, inside);
  if (shown === undefined || !/\S/.test(shown) || HAZARD.test(shown)) return undefined;
  const [before, after] = [RISKY_START, RISKY_END].map((risk) => (risk.test(shown) ? WORD_JOINER : ''));
  return `${before}${shown}${after}`;
}

function readTag(tag: string, inside: string): string | undefined {
  const mark = TAG_MARKS[tag.toLowerCase()];
  return mark === undefined ? STYLED.exec(inside)?.[0] : inScript(inside, mark);
}

/** Replaces what has characters, inside out; what is left over makes it no simple formula. */
function readFormula(source: string): string | undefined {
  const shown = source
    .replace(WORDS, (_, words: string) => `{${words.replaceAll('-', '‐').replaceAll("'", '’')}}`)
    .replace(/([_^])(\\[A-Za-z]+)/g, '$1{$2}')
    .replace(COMMAND, (all, name: string | undefined, space: string, mark: string) => {
      const plain = COMMANDS.get(name ?? mark);
      return plain === undefined ? all : plain + (/\w\w/.test(plain) ? space : '');
    })
    .replace(SCRIPT, (all, mark: string, group: string | undefined, one: string) => {
      return inScript((group ?? one).replace(/[{}]/g, ''), mark) ?? all;
    })
    .replace(/(?<!\\)\{([^{}\\]*)\}/g, '$1')
    .replace(/[-'*|~]/g, (mark) => LOOK_ALIKES[mark] ?? mark)
    .replace(/\s+/g, ' ')
    .replace(/(?<=[([{]|^) | (?=[)\]}]|$)/g, '');
  return PLAIN.test(shown) ? shown.replace(/\\(?=[{}%])/g, '') : undefined;
}

/** A text as a subscript (`_`) or a superscript (`^`); its spaces separate nothing. */
function inScript(text: string, mark: string): string | undefined {
  const script = mark === '^' ? SUPERSCRIPTS : SUBSCRIPTS;
  const plain = text.replace(/\s/g, '').replace(/[−–]/g, '-');
  const shown = Array.from(plain, (character) => script.get(character));
  return shown.length === 0 || shown.includes(undefined) ? undefined : shown.join('');
}

function pairs(list: string): Map<string, string> {
  return new Map(Array.from(list.matchAll(/(\S+)\s+(\S+)/g), ([, name = '', shown = '']) => [name, shown]));
}

function characters(list: string): Map<string, string> {
  return pairs(Array.from(list).join(' '));
}
