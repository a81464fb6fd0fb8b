import { styleText } from 'node:util';
import { confirm, input, select } from '@inquirer/prompts';
import {
  type ChoiceQuestion,
  maskSecret,
  maskTyped,
  type Questions,
  type TextQuestion,
} from './questions.ts';

/** Asks a person at a terminal, again and again until an answer passes its check. */
export class TerminalQuestions implements Questions {
  async choose<Value extends string>(question: ChoiceQuestion<Value>): Promise<Value> {
    const choices = question.choices.map((choice) => ({ ...choice, short: choice.name }));
    return select<Value>({ message: question.message, choices, ...defaultOf(question.default) });
  }

  async ask(question: TextQuestion): Promise<string> {
    const { secret, hint, check, default: kept } = question;
    if (question.where !== undefined) console.log(styleText('dim', `\n${question.where}`));
    const offer = secret && kept !== undefined ? ` (Enter keeps ${maskSecret(kept)})` : '';
    const answerFrom = (typed: string) => typed.trim() || (kept ?? '');
    const typed = await input({
      message: `${question.message}${offer}`,
      ...(secret ? {} : defaultOf(kept)),
      transformer: (text, { isFinal }) => {
        const answer = answerFrom(text);
        if (isFinal) return styleText('cyan', secret ? maskSecret(answer) : answer);
        if (text === '') return '';
        const remark = hint?.(text.trim()) ?? '';
        // a token that was pasted at the wrong question stays hidden, too
        return `${secret || /^\s*(?:xox|xapp-)/.test(text) ? maskTyped(text.trim()) : text}${remark === '' ? '' : styleText('dim', `  ${remark}`)}`;
      },
      validate: async (text) => (await check(answerFrom(text))) ?? true,
      // A secret is pasted again as a whole; anything else is corrected.
      theme: { validationFailureMode: secret === true ? 'clear' : 'keep' },
    });
    return answerFrom(typed);
  }

  async confirm(question: { message: string; default: boolean }): Promise<boolean> {
    return confirm({ message: question.message, default: question.default });
  }

  reject(_key: string, problem: string): void {
    console.log(`${styleText('red', '✖')} ${problem}`);
  }
}

function defaultOf<Value>(value: Value | undefined): { default?: Value } {
  return value === undefined ? {} : { default: value };
}
