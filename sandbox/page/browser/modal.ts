import type { ActionResult, ViewModel } from '../page-protocol.ts';
import { act, warn } from './announcements.ts';
import { blocks } from './blocks.ts';
import { button, byId, fill, h, keepingFocus } from './dom.ts';
import { filesIn, keepingValues, valuesIn } from './form-values.ts';
import { state } from './page-state.ts';
import { performAction, upload } from './server-connection.ts';

/** The person's topmost modal as a browser dialog, which traps the focus and restores it. */
export class Modal {
  readonly #dialog = dialogOf('modal');
  readonly #title = byId('modal-title');
  readonly #body = byId('modal-body');
  readonly #foot = byId('modal-foot');
  /** Upload keys by file: a form that is submitted again does not upload its files again. */
  readonly #uploadKeys = new WeakMap<File, string>();
  #shown: { id: string; hash: string } | undefined;

  constructor() {
    byId('close-modal').addEventListener('click', () => this.#close());
    this.#dialog.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#submit();
    });
    this.#dialog.addEventListener('cancel', (event) => {
      event.preventDefault();
      this.#close();
    });
    // A link to another place on the page closes the modal, which would cover it.
    this.#body.addEventListener('click', ({ target }) => {
      if (target instanceof Element && target.closest('[data-place]') !== null) this.#close();
    });
    state.on(['private', 'workspace'], () => this.#draw());
  }

  #draw(): void {
    const { modal } = state.privateView;
    if (modal === undefined) {
      this.#shown = undefined;
      if (this.#dialog.open) this.#dialog.close();
      return;
    }
    if (modal.id === this.#shown?.id && modal.hash === this.#shown.hash) return;
    const sameView = modal.id === this.#shown?.id;
    const couldWrite = this.#firstInput !== null;
    this.#shown = modal;
    this.#title.textContent = modal.title;
    const draw = () => fill(this.#body, ...blocks(modal.blocks, { act: (pressed) => this.#press(pressed) }));
    if (sameView) keepingFocus(this.#body, () => keepingValues(this.#body, draw));
    else draw();
    this.#drawFoot(modal);
    if (!this.#dialog.open) this.#dialog.showModal();
    // A form that was loading gets its inputs only now.
    if (sameView && (couldWrite || this.#firstInput === null)) return;
    (this.#firstInput ?? this.#title).focus();
  }

  get #firstInput(): HTMLElement | null {
    return this.#body.querySelector<HTMLElement>('input, select, textarea');
  }

  #drawFoot({ close, submit }: ViewModel): void {
    fill(
      this.#foot,
      button({ class: 'button', onclick: () => this.#close() }, close),
      submit !== undefined && h('button', { type: 'submit', class: 'button primary' }, submit),
    );
  }

  #press(pressed: { actionId: string; value?: string; values?: string[] }): Promise<boolean> {
    return act({ kind: 'click', view: 'modal', state: valuesIn(this.#body), ...pressed });
  }

  async #submit(): Promise<void> {
    const { modal } = state.privateView;
    if (modal === undefined || this.#dialog.ariaBusy === 'true' || !this.#complete(modal)) return;
    this.#dialog.ariaBusy = 'true';
    const outcome = await this.#send().catch((error: unknown) => {
      return { ok: false, error: error instanceof Error ? error.message : 'The upload failed.' };
    });
    this.#dialog.ariaBusy = 'false';
    if (!outcome.ok) this.#showErrors(outcome);
  }

  async #send(): Promise<ActionResult> {
    const files: Record<string, string[]> = {};
    for (const [key, chosen] of Object.entries(filesIn(this.#body)))
      files[key] = await Promise.all(chosen.map((file) => this.#uploadOnce(file)));
    return performAction({ kind: 'submit', person: state.me, values: valuesIn(this.#body), files });
  }

  async #uploadOnce(file: File): Promise<string> {
    const key = this.#uploadKeys.get(file) ?? (await upload(file));
    this.#uploadKeys.set(file, key);
    return key;
  }

  /** Checks required inputs, as Slack does before it notifies the app. */
  #complete(modal: ViewModel): boolean {
    const values = { ...valuesIn(this.#body), ...filesIn(this.#body) };
    const missing = modal.blocks.filter((block) => {
      const key = Object.keys(values).find((one) => one.startsWith(`${String(block.block_id)}/`));
      return (
        block.type === 'input' && block.optional !== true && key !== undefined && values[key]?.length === 0
      );
    });
    const errors = missing.map((block): [string, string] => [
      String(block.block_id),
      'This field is required.',
    ]);
    if (errors.length > 0) this.#showErrors({ ok: false, errors: Object.fromEntries(errors) });
    return errors.length === 0;
  }

  #showErrors({ error, errors = {} }: ActionResult): void {
    for (const old of this.#body.querySelectorAll('.field-error')) old.remove();
    if (error !== undefined) warn(error);
    let first: HTMLElement | undefined;
    for (const field of this.#body.querySelectorAll<HTMLElement>('[data-block]')) {
      const problem = errors[field.dataset.block ?? ''];
      const input = field.querySelector<HTMLElement>('[data-input]');
      const id = `error-${field.dataset.block}`;
      const about = new Set(input?.getAttribute('aria-describedby')?.split(' '));
      about.delete(id);
      input?.toggleAttribute('aria-invalid', problem !== undefined);
      if (about.size === 0) input?.removeAttribute('aria-describedby');
      else input?.setAttribute('aria-describedby', [...about].join(' '));
      if (problem === undefined) continue;
      input?.setAttribute('aria-describedby', [...about, id].join(' '));
      field.append(h('p', { class: 'field-error', id, role: 'alert' }, problem));
      first ??= input?.matches('.ticks') ? (input.querySelector('input') ?? undefined) : (input ?? undefined);
    }
    first?.focus();
  }

  #close(): void {
    void act({ kind: 'close' });
  }
}

function dialogOf(id: string): HTMLDialogElement {
  const found = byId(id);
  if (found instanceof HTMLDialogElement) return found;
  throw new Error(`The element ${id} is no dialog.`);
}
