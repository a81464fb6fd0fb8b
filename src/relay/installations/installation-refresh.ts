/** What a process knows of rows that other processes change, each with a higher `change_seq` than all changes before. */
export abstract class RefreshedRows<Row extends { change_seq: number }> {
  #lastSequence = 0;
  #running: Promise<void> | undefined;

  /** Reads what has changed since the last time. With `isFull`, also notices deleted rows. Throws StoreError. */
  async refresh(isFull = false): Promise<void> {
    // A refresh in progress may have started before the write that this call must see.
    await this.#running?.catch(() => undefined);
    this.#running ??= this.#load(isFull).finally(() => {
      this.#running = undefined;
    });
    await this.#running;
  }

  protected abstract changedSince(sequence: number): Promise<Row[]>;
  protected abstract apply(row: Row): void;
  /** Forgets the rows that were deleted. */
  protected abstract forgetDeleted(): Promise<void>;

  async #load(isFull: boolean): Promise<void> {
    for (const row of await this.changedSince(this.#lastSequence)) {
      this.#lastSequence = row.change_seq;
      this.apply(row);
    }
    if (isFull) await this.forgetDeleted();
  }
}
