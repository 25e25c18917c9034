import { api } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';
import { write } from '../../../api/write.ts';

export type SettingsPatch = components['schemas']['UpdateWorkspaceRequestSettings'];

/** Changes the settings that are sent, and no others. */
export function saveSettings(workspaceId: string, settings: SettingsPatch): Promise<object> {
  const call = api.PATCH('/api/v1/workspaces/{workspaceId}', { params: { path: { workspaceId } }, body: { settings } });
  return write(call, 'The settings are saved.');
}

/** Words with spaces between; undefined for none. */
export function termsOf(text: string): string[] | undefined {
  const terms = text.split(/[\s,]+/).filter((term) => term !== '');
  return terms.length === 0 ? undefined : terms;
}
