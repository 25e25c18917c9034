import type { BaseServices } from '../model/services.ts';

/** The page of the dashboard where a person approves. */
export function approvalUrl({ settings }: Pick<BaseServices, 'settings'>, workflowId: string): string {
  return `${settings.apiUrl}/#/workflows/${workflowId}`;
}
