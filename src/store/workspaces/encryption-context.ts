/** The row that an encrypted text belongs to: it cannot be decrypted as another row's. */
export const encryptionContext = {
  installation: (workspace: string) => ['installations', workspace],
  account: ({ workspace, account_id }: { workspace: string; account_id: string }) => [
    'accounts',
    workspace,
    account_id,
  ],
} as const;
