/** What operations on the log itself have in common. */
export const LOG_OPERATION = {
  access: 'authenticated',
  workspace: 'scoped',
  orInstallation: true,
  edition: 'community',
} as const;
