import { h } from './dom.ts';

/** Asks for confirmation; resolves to whether the person agrees. */
export function confirmDialog(question: {
  title: string;
  text: string;
  yes: string;
  no?: string;
  style: 'primary' | 'danger';
}): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const answer = (yes: boolean) => () => {
    resolve(yes);
    dialog.close();
  };
  const dialog = h(
    'dialog',
    { class: 'modal small', 'aria-labelledby': 'question' },
    h('h2', { id: 'question' }, question.title),
    h('p', {}, question.text),
    h(
      'div',
      { class: 'modal-foot' },
      h('button', { type: 'button', class: 'button', onclick: answer(false) }, question.no ?? 'Cancel'),
      h('button', { type: 'button', class: `button ${question.style}`, onclick: answer(true) }, question.yes),
    ),
  );
  dialog.addEventListener('close', () => {
    resolve(false);
    dialog.remove();
  });
  document.body.append(dialog);
  dialog.showModal();
  return promise;
}
