/** The row that an encrypted text belongs to: it cannot be decrypted as another row's. */
export const encryptionContext = {
  installation: (workspace: string) => ['installations', workspace],
  account: ({ workspace, account }: { workspace: string; account: string }) => [
    'accounts',
    workspace,
    account,
  ],
} as const;
