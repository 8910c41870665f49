/** Whether anything is under way, and when nothing is any more. What begins as soon as something else ends follows without a gap. */
export class Busy {
  #running = 0;
  #idle: { readonly promise: Promise<void>; readonly resolve: () => void } | null = null;

  async during<T>(work: Promise<T>): Promise<T> {
    this.#running += 1;
    try {
      return await work;
    } finally {
      this.#running -= 1;
      if (this.#running === 0) setImmediate(() => this.#settle());
    }
  }

  /** null: nothing is under way now. */
  idle(): Promise<void> | null {
    if (this.#running === 0) return null;
    this.#idle ??= Promise.withResolvers<void>();
    return this.#idle.promise;
  }

  #settle(): void {
    if (this.#running > 0) return;
    this.#idle?.resolve();
    this.#idle = null;
  }
}
