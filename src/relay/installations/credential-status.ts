/** Stops calls with a token or key that was refused, and says since when it is refused. */
export interface CredentialStatus {
  /** Call it before each call. Throws the refusal if the call must not be made. */
  enter(): void;
  refused(error: Error): void;
  accepted(): void;
  /** Undefined while the token or key is accepted. */
  readonly refusedSince: Date | undefined;
}
