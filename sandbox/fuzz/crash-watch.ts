/** Reports what would have ended this process, in which the bot runs. */
export function watchCrashes(onCrash: (sentence: string) => void, undo: AsyncDisposableStack): void {
  const crashed = (error: unknown) =>
    onCrash(`the process would have ended: ${error instanceof Error ? error.stack : String(error)}`);
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, crashed);
    undo.defer(() => void process.off(event, crashed));
  }
}
