"""The words of SQL: statements that change, functions that compute, functions that do more."""

from collections.abc import Mapping

from cli_guard.commands.model import Kind

CHANGES = frozenset(
    """INSERT UPDATE DELETE CREATE ALTER DROP TRUNCATE GRANT REVOKE REPLACE MERGE UPSERT RENAME COMMENT REINDEX
    CLUSTER REFRESH VACUUM ANALYZE OPTIMIZE REPAIR IMPORT EXPORT BACKUP RESTORE FLUSH KILL PURGE RESET LOCK UNLOCK
    SHUTDOWN DETACH NOTIFY REASSIGN CHECKPOINT UNDROP""".split()
)
# Changes that can be a part of another statement.
PARTS = frozenset("INSERT UPDATE DELETE MERGE REPLACE CREATE REFRESH UPSERT".split())
# Statements around others, which change nothing by themselves.
STEPS = frozenset(
    """BEGIN COMMIT ROLLBACK END START SAVEPOINT RELEASE ABORT USE CLOSE FETCH LISTEN UNLISTEN DISCARD HELP STATUS
    CHECK CHECKSUM GO EXIT QUIT""".split()
)
SETTINGS = frozenset(
    "GLOBAL PERSIST PERSIST_ONLY PASSWORD ROLE DEFAULT SESSION_AUTHORIZATION RESOURCE".split()
)
READING_PRAGMAS = frozenset(
    """TABLE_INFO TABLE_XINFO TABLE_LIST INDEX_LIST INDEX_INFO INDEX_XINFO FOREIGN_KEY_LIST FOREIGN_KEY_CHECK
    INTEGRITY_CHECK QUICK_CHECK DATABASE_LIST COLLATION_LIST FUNCTION_LIST""".split()
)
# Words that stand in front of a parenthesis without being functions, types among them.
BEFORE_PAREN = frozenset(
    """IN VALUES AND OR NOT EXISTS ANY ALL SOME AS OVER FILTER USING ON WHERE SELECT FROM JOIN WHEN THEN ELSE CASE
    UNION EXCEPT INTERSECT BY HAVING BETWEEN LIKE ILIKE SIMILAR DISTINCT LIMIT OFFSET LATERAL IS WITH INTERVAL GROUP
    WITHIN SETS PARTITION ROW ARRAY VARCHAR CHAR CHARACTER NUMERIC DECIMAL BIT TIMESTAMP TIMESTAMPTZ TIME VARBINARY
    BINARY FLOAT EXPLAIN TO DIV MOD XOR MATERIALIZED PARTITION SEPARATOR REGEXP RLIKE GLOB MATCH RETURNING INNER
    LEFT RIGHT CUBE ROLLUP GROUPING TOP COPY FORCE INDEX IGNORE KEY""".split()
)
FUNCTIONS = frozenset(
    """count sum avg min max total coalesce nullif ifnull nvl iif if greatest least cast convert try_cast abs ceil
    ceiling floor round sign sqrt power pow exp ln log log2 log10 mod random rand trunc truncate pi sin cos tan asin
    acos atan atan2 degrees radians div gcd lcm width_bucket lower upper length len char_length character_length
    octet_length bit_length trim ltrim rtrim btrim lpad rpad left right substr substring substring_index mid position
    strpos instr locate charindex patindex replace reverse repeat replicate space concat concat_ws group_concat
    string_agg listagg split_part split format printf quote quote_ident quote_literal quote_nullable ascii chr char
    unicode hex unhex initcap translate overlay soundex difference left_pad stuff md5 sha sha1 sha2 sha224 sha256
    sha384 sha512 digest crc32 encode decode to_base64 from_base64 to_hex now current_date current_time
    current_timestamp localtime localtimestamp statement_timestamp transaction_timestamp clock_timestamp timeofday
    getdate getutcdate sysdate sysdatetime curdate curtime utc_timestamp unix_timestamp from_unixtime date time
    datetime julianday strftime date_add date_sub date_diff datediff dateadd date_trunc date_part date_format
    date_bin datepart datename extract epoch year month day hour minute second quarter week weekday dayofweek
    dayofmonth dayofyear dayname monthname last_day eomonth age justify_days justify_hours justify_interval
    make_date make_time make_timestamp make_interval to_char to_date to_timestamp to_number str_to_date time_bucket
    timestampdiff timestampadd row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value
    last_value nth_value percentile_cont percentile_disc mode median stddev stddev_pop stddev_samp variance var_pop
    var_samp corr covar_pop covar_samp regr_slope regr_intercept regr_r2 bool_and bool_or bit_and bit_or every
    any_value arg_max arg_min max_by min_by approx_count_distinct histogram list unnest generate_series range
    generate_subscripts cardinality isnull isnumeric is_nan typeof pg_typeof row_to_json to_json to_jsonb row struct
    map list_value uuid newid gen_random_uuid uuid_generate_v4 version current_user session_user user
    current_database current_schema current_schemas current_setting database schema db_name object_id object_name
    obj_description col_description shobj_description has_table_privilege has_schema_privilege to_regclass
    to_regtype inet_server_addr inet_server_port txid_current pg_size_pretty pg_relation_size pg_table_size
    pg_total_relation_size pg_indexes_size pg_database_size pg_tablespace_size pg_get_viewdef pg_get_functiondef
    pg_get_indexdef pg_get_constraintdef pg_get_expr pg_get_userbyid pg_encoding_to_char pg_backend_pid
    pg_postmaster_start_time pg_is_in_recovery pg_current_wal_lsn pg_wal_lsn_diff pg_last_wal_receive_lsn
    pg_blocking_pids format_type last_insert_rowid last_insert_id changes total_changes sqlite_version
    sqlite_source_id sqlite_compileoption_used likely unlikely likelihood glob like row_count found_rows
    connection_id choose found nvl2 elt field find_in_set bin oct conv inet_aton inet_ntoa host masklen network
    ts_rank ts_rank_cd setweight plainto_tsquery phraseto_tsquery websearch_to_tsquery similarity levenshtein
    word_similarity starts_with ends_with contains array_agg xmlagg xpath decode_json columns exclude""".split()
)
HARMLESS_PREFIX = (
    "json_",
    "jsonb_",
    "array_",
    "list_",
    "regexp_",
    "string_",
    "to_ts",
    "ts_",
    "st_",
    "pragma_",
)
CALLS: Mapping[str, Kind] = {
    **dict.fromkeys(
        """pg_read_file pg_read_binary_file pg_ls_dir pg_stat_file pg_ls_logdir pg_ls_waldir load_file readfile
        read_csv read_csv_auto read_parquet read_json read_json_auto read_text read_blob parquet_scan lo_import
        openrowset bfilename""".split(),
        Kind.READ,
    ),
    **dict.fromkeys("writefile lo_export edit pg_file_write".split(), Kind.WRITE),
    **dict.fromkeys("load_extension xp_cmdshell sys_exec sys_eval sp_oacreate eval".split(), Kind.EXEC),
    **dict.fromkeys(
        """dblink dblink_exec dblink_connect dblink_send_query utl_http http_get http_post opendatasource
        postgres_scan mysql_scan""".split(),
        Kind.NETWORK_OUT,
    ),
    **dict.fromkeys(
        """pg_terminate_backend pg_cancel_backend pg_reload_conf pg_rotate_logfile pg_switch_wal pg_promote setval
        nextval set_config pg_create_restore_point pg_advisory_lock pg_logical_slot_get_changes lo_unlink lo_create
        pg_drop_replication_slot pg_create_logical_replication_slot pg_stat_reset pg_notify get_lock release_lock
        pg_start_backup pg_stop_backup pg_backup_start pg_wal_replay_pause pg_sleep sleep benchmark""".split(),
        Kind.SERVICE_WRITE,
    ),
    "query_to_xml": Kind.UNKNOWN,
}
