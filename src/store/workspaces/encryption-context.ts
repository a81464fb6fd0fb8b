/** Where sealed texts belong: what is sealed for one row cannot be opened as another's. */
export const encryptionContext = {
  installation: (workspace: string) => ['installations', workspace],
  account: ({ workspace, account }: { workspace: string; account: string }) => [
    'accounts',
    workspace,
    account,
  ],
} as const;
