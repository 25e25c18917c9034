import { launchd } from './launchd.ts';
import type { ServiceManager } from './service.ts';
import { systemd } from './systemd.ts';

export function localManager(): ServiceManager {
  return process.platform === 'darwin' ? launchd() : systemd();
}
