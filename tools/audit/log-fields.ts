/** The common fields of operations on the log itself. */
export const LOG_OPERATION = {
  access: 'authenticated',
  workspace: 'scoped',
  orInstallation: true,
  edition: 'community',
} as const;
