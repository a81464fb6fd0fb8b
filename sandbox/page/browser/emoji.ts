const glyphs: Record<string, string> = {
  '+1': '👍',
  thumbsup: '👍',
  '-1': '👎',
  thumbsdown: '👎',
  heart: '❤️',
  tada: '🎉',
  eyes: '👀',
  pray: '🙏',
  white_check_mark: '✅',
  x: '❌',
  warning: '⚠️',
  octagonal_sign: '🛑',
  hourglass: '⌛',
  hourglass_flowing_sand: '⏳',
  bulb: '💡',
  arrow_up: '⬆️',
  rocket: '🚀',
  wave: '👋',
  slightly_smiling_face: '🙂',
  thinking_face: '🤔',
  microscope: '🔬',
  dna: '🧬',
  test_tube: '🧪',
  coffee: '☕',
};

/** The emoji in the reaction picker. */
export const PICKER_EMOJI = [
  '+1',
  'heart',
  'tada',
  'eyes',
  'white_check_mark',
  'pray',
  'thinking_face',
  'octagonal_sign',
];

/** The character of an emoji; `:name:` if it is unknown. */
export function emoji(name: string): string {
  const [base = name] = name.split('::');
  return glyphs[base] ?? `:${base}:`;
}
