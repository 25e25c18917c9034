import { formatInstant } from '../../../core/base/time.ts';
import { backupsIn, backupTime } from '../../../storage/backup-files.ts';
import { type Check, ok, warning } from './check.ts';

const HOUR_MS = 3_600_000;

export const checkBackup: Check = ({ config: { configDir, app }, file, now }) => {
  if (file === undefined) return [];
  const [newest] = backupsIn(configDir);
  const advice = 'Make one: meshd backup FILE';
  if (newest === undefined) return [warning(`There is no automatic backup yet. ${advice}.`)];
  const at = backupTime(newest);
  const age = now - at;
  const said = `The newest backup is ${newest}, of ${formatInstant(at)}`;
  if (app.backups === 'off') return [warning(`${said}; automatic ones are off. ${advice} now and then.`)];
  const isLate = age > 2 * app.backups.every;
  return [
    isLate ? warning(`${said}, ${Math.round(age / HOUR_MS)} h ago. ${advice}, and look at the log.`) : ok(`${said}.`),
  ];
};
