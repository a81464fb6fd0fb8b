import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { unicodeFormula } from '../../../src/render/markdown/unicode-math.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { withinMs } from '../../support/busy-machine.ts';

/** Without the word joiners that keep it from reading as a mark. */
const plain = (source: string) => unicodeFormula(source)?.replaceAll('\u2060', '');

describe('a simple formula', () => {
  test.each([
    ['$10^{-9}$', '10⁻⁹'],
    ['\\(p < 10^{-9}\\)', 'p < 10⁻⁹'],
    ['$3.2\\times10^{8}$', '3.2 × 10⁸'],
    ['$3 \\times 10^8$', '3 × 10⁸'],
    ['$x_1y_2$', 'x₁y₂'],
    ['$H_2O$', 'H₂O'],
    ['$\\mathrm{Ca}^{2+}$', 'Ca²⁺'],
    ['$^{13}C$', '¹³C'],
    ['$\\mathrm{NH_4^+}$', 'NH₄⁺'],
    ['$\\mathrm{H_2O}$', 'H₂O'],
    ['$\\mathrm{Ca^{2+}}$', 'Ca²⁺'],
    ['$\\textit{in vivo}$', 'in vivo'],
    ['$<$', '<'],
    ['$V_{max} / K_m$', 'Vₘₐₓ / Kₘ'],
    ['$\\text{IC}_{50} = 5 \\mu M$', 'IC₅₀ = 5 μM'],
    ['$\\log_2\\text{FC} \\geq 1$', 'log₂FC ≥ 1'],
    ['$\\log_{10}(p)$', 'log₁₀(p)'],
    ['$\\alpha, \\beta \\gamma, \\Omega, \\varepsilon$', 'α, βγ, Ω, ε'],
    ['$\\Delta\\Delta G = -1.2$', 'ΔΔG = −1.2'],
    ['$\\chi^2 = 4.1, R^2 \\approx 0.9$', 'χ² = 4.1, R² ≈ 0.9'],
    ['$A \\rightarrow B \\leftarrow C \\to D$', 'A → B ← C → D'],
    ['$5 \\pm 2$', '5 ± 2'],
    ['$(\\pm 2)$', '(± 2)'],
    ['$37\\,^{\\circ}C$', '37 °C'],
    ['$95\\%$', '95%'],
    ['$\\beta_{\\gamma}$', 'βᵧ'],
    ["$f'$", 'f′'],
    ['$a*b|c$', 'a∗b∣c'],
    ['$\\left(x^{n+1}\\right)$', '(xⁿ⁺¹)'],
    ['$$E = mc^2$$', 'E = mc²'],
    ['\\[ a \\le b \\]', 'a ≤ b'],
    ['\\alpha', 'α'],
    ['\\log_2', 'log₂'],
    ['^{-9}', '⁻⁹'],
    ['<sub>2</sub>', '₂'],
    ['<SUP>2+</SUP>', '²⁺'],
    ['<sup>−1</sup>', '⁻¹'],
    ['$t_{1/2}$', 't₁⁄₂'],
    ['<sup>-/-</sup>', '⁻⁄⁻'],
    ['<sup>fl/fl</sup>', 'ᶠˡ⁄ᶠˡ'],
    ['<sub>0–24</sub>', '₀₋₂₄'],
    ['<i>Trp53</i>', 'Trp53'],
    ['<EM>E. coli</EM>', 'E. coli'],
  ])('%s is %s', (source, shown) => {
    expect(plain(source)).toBe(shown);
  });

  test.each([
    '$p_{adj}$',
    '$p_{\\text{adj}}$',
    '<sub>adj</sub>',
    '<sub>d</sub>',
    '<sup>1,2</sup>',
    '<sup>**</sup>',
    '<sup>[1]</sup>',
    '<sub>a_b</sub>',
    '<i>a*b*</i>',
    '<i>- x</i>',
    '<b>1,4,[5],12:b:1,2</b>',
    '<i>[a](b)</i>',
    '$\\frac{a}{b}$',
    '$\\Log x$',
    '$\\Times$',
    '$\\begin{matrix}1\\end{matrix}$',
    '$gene_name$',
    '$TP53_mut$',
    '$10^-9$',
    '$x^10$',
    '$x_{i,j}$',
    '$x^*$',
    '$a & b$',
    '$a \\\\ b$',
    '$C[C@@H](N)$',
    '$\\hat{x}$',
    '$x_$',
    '$x^{$',
    '\\(<!channel>\\)',
    '\\(!channel\\)',
    '\\(www.example.org\\)',
    '\\([a](b)\\)',
    '\\( \\)',
  ])('%s is none', (source) => {
    expect(unicodeFormula(source)).toBeUndefined();
  });

  test('does not begin like a block, nor end like a label', () => {
    expect(unicodeFormula('$> 5$')).toBe('\u2060> 5');
    expect(unicodeFormula('$1. x_1$')).toBe('\u20601. x₁');
    expect(unicodeFormula('$1.5 \\times 10^3$')).toBe('1.5 × 10³');
    expect(unicodeFormula('$[0, 1]$')).toBe('\u2060[0, 1]\u2060');
    expect(unicodeFormula('$<$')).toBe('<\u2060');
  });

  test('is never longer than its source, has none of its marks, and takes time proportional to its length', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '\\alpha',
        '\\to',
        '\\le',
        '^',
        '_',
        '{',
        '}',
        '\\text{a b}',
        '1',
        'x',
        '-',
        '\\',
        ' ',
        '\\left',
      ),
      anyCharacter,
    );
    const formulas = fc.array(piece, { maxLength: 40 }).map((list) => `$${list.join('')}$`);
    fc.assert(
      fc.property(formulas, (source) => {
        const shown = unicodeFormula(source) ?? '';
        expect(shown.length).toBeLessThanOrEqual(source.length);
        expect(shown).not.toMatch(/[\\*_`~|^$&@#]/);
      }),
    );
    const before = performance.now();
    unicodeFormula(`$${'{'.repeat(900)}$`);
    unicodeFormula(`$${'x_{a'.repeat(250)}$`);
    expect(performance.now() - before).toBeLessThan(withinMs(1_000));
  });
});
