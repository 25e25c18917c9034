import { livePlanes } from '../../../plane/leadership.ts';
import { buildKeyring } from '../../../storage/keyring.ts';
import { storeAt } from '../../../storage/open.ts';
import { readBusKeys } from '../bus-keys.ts';
import type { Config } from '../config.ts';
import { configWarnings, warningText } from '../config-warnings.ts';
import { keyLocationOf, storedCredentials } from '../installation.ts';
import { type Digests, differencesFrom, differencesText, refusals, sharedSettings } from '../shared-settings.ts';
import { storeUrl } from '../store-url.ts';
import { type Check, failed, ok, warning } from './check.ts';

/** Variables and keys that are allowed here but probably not meant. */
export const checkConfiguration: Check = ({ config }) =>
  configWarnings(config).map((each) => warning(warningText(each)));

/** Compares the settings given here with those of the control planes on the database. */
export const checkSettings: Check = async ({ config }) => {
  const { servers } = storeAt(storeUrl(config));
  const settings = servers && localSettings(config);
  if (!settings) return [];
  const reader = await servers.openPlanesReader();
  try {
    const planes = () => livePlanes(reader);
    // A control plane that runs here is included: it has the settings from its start.
    const different = await differencesFrom({ self: '', settings, cells: reader.cells, planes });
    if (different.size === 0)
      return [ok('No control plane that shares the database is at work, beside which these settings could be held.')];
    const refused = refusals(different);
    if (refused.length > 0) return refused.map((line) => failed(`${line}.`));
    const said = differencesText(different);
    if (said === '')
      return [ok(`Those given here are those of all ${different.size} control planes at work on the database.`)];
    return [
      warning(
        `Control planes at work on the database have other settings than are given here: ${said}. Give all of them the same.`,
      ),
    ];
  } finally {
    await reader.close();
  }
};

function localSettings(config: Config): Digests | undefined {
  const { MESH_BUS_KEYS_FILE: busKeysFile, MESH_LRP_AUTH_TOKEN: token } = config.env;
  const credentials = storedCredentials(keyLocationOf(config));
  if (!credentials) return undefined;
  const { relayToken, controlPrivateKey } = buildKeyring(credentials, token);
  const busKeys = busKeysFile === undefined ? undefined : readBusKeys(busKeysFile);
  return sharedSettings(config, { relayToken, busKeys }, controlPrivateKey);
}
