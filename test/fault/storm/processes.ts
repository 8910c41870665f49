import { readdirSync, readFileSync } from 'node:fs';

/** Processes whose environment says that they belong to a task of this data folder. Where there is no /proc: none is seen. */
export function liveTasks(data: string): readonly number[] {
  return processes().filter((pid) => environment(pid).includes(`\0SLUICE_ATTEMPT_FOLDER=${data}/`));
}

function processes(): readonly number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

/** Each entry with a NUL before it; '' of a process that is gone, or of another user. */
function environment(pid: number): string {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`;
  } catch {
    return '';
  }
}
